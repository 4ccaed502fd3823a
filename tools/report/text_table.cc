#include "tools/report/text_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/report/printable.h"

namespace yuba::tools {
namespace {

size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

struct Prefix {
  double from;  // the least count that has it
  double size;
  const char* name;
};
// GFLOP and GB go on for four digits and more: what models need is compared in one unit.
constexpr Prefix kPrefixes[] = {{1e18, 1e18, "E"}, {1e15, 1e15, "P"}, {1e13, 1e12, "T"},
                                {1e9, 1e9, "G"},   {1e6, 1e6, "M"},   {1e3, 1e3, "k"}};

// nullptr: none.
const Prefix* PrefixOf(double count) {
  for (const Prefix& prefix : kPrefixes) {
    if (count >= prefix.from) return &prefix;
  }
  return nullptr;
}

// That of bytes: MB go on as well, to 9999.9.
const Prefix* PrefixOfBytes(double bytes) {
  return PrefixOf(bytes >= 1e9 && bytes < 1e10 ? 1e6 : bytes);
}

}  // namespace

std::string Bytes(int64_t bytes) {
  const Prefix* prefix = PrefixOfBytes(static_cast<double>(bytes));
  if (prefix == nullptr) return absl::StrCat(bytes, " B");
  return absl::StrFormat("%.1f %sB", static_cast<double>(bytes) / prefix->size, prefix->name);
}

std::string Duration(int64_t nanoseconds) {
  const auto value = static_cast<double>(nanoseconds);
  if (nanoseconds < 1000) return absl::StrCat(nanoseconds, " ns");
  if (value < 1e6) return absl::StrFormat("%.3g us", value / 1e3);
  if (value < 1e9) return absl::StrFormat("%.3g ms", value / 1e6);
  return absl::StrFormat("%.4g s", value / 1e9);
}

std::string SignedBytes(int64_t bytes) {
  return absl::StrCat(bytes < 0 ? "−" : "+", Bytes(std::llabs(bytes)));
}

ByteUnit::ByteUnit(int64_t largest) : name_("B") {
  const Prefix* prefix = PrefixOfBytes(static_cast<double>(largest));
  if (prefix == nullptr) return;
  name_ = absl::StrCat(prefix->name, "B");
  size_ = prefix->size;
  decimals_ = static_cast<double>(largest) < 10 * size_ ? 2 : 1;
}

std::string ByteUnit::Text(int64_t bytes) const {
  if (bytes == 0) return "–";
  const double count = static_cast<double>(bytes) / size_;
  const double least = std::pow(10.0, -decimals_);  // that a cell can show
  if (decimals_ > 0 && count < least / 2) return absl::StrFormat("<%.*f", decimals_, least);
  return absl::StrFormat("%.*f", decimals_, count);
}

std::string Megabytes(int64_t bytes) {
  if (bytes == 0) return "–";
  if (bytes < 1000) return absl::StrFormat("%.6f", bytes / 1e6);
  if (bytes < 50000) return absl::StrFormat("%.3f", bytes / 1e6);
  return absl::StrFormat("%.1f", bytes / 1e6);
}

std::string Count(double count) {
  const Prefix* prefix = PrefixOf(count);
  if (prefix == nullptr) return absl::StrFormat("%.0f ", count);
  return absl::StrFormat("%.1f %s", count / prefix->size, prefix->name);
}

std::string Counted(int64_t count, const std::string& what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string CountedShortly(int64_t count, const std::string& what) {
  if (count < 1000) return Counted(count, what);
  return absl::StrCat(Count(static_cast<double>(count)), " ", what, "s");
}

std::string FirstOf(std::vector<std::string> names) {
  constexpr size_t kShown = 5;
  const size_t more = names.size() > kShown ? names.size() - kShown : 0;
  names.resize(names.size() - more);
  return absl::StrCat(absl::StrJoin(names, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

int64_t SaturatingSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

std::string TextTable::ToString(const std::string& indent) const {
  std::vector<size_t> widths;
  std::vector<std::vector<std::string>> rows = rows_;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = Printable(cell);
    if (widths.size() < row.size()) widths.resize(row.size(), 0);
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], Width(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - Width(row[c]), ' ');
      if (c > 0) line += "  ";
      line += c >= right_from_ ? padding + row[c] : row[c] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace yuba::tools
