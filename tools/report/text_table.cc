#include "tools/report/text_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/report/printable.h"

namespace yuba::tools {
namespace {

size_t Width(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

std::string Bytes(int64_t bytes) {
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  if (bytes < 1000000) return absl::StrFormat("%.1f kB", bytes / 1e3);
  if (bytes < 10000000000) return absl::StrFormat("%.1f MB", bytes / 1e6);
  return absl::StrFormat("%.1f GB", bytes / 1e9);
}

std::string Megabytes(int64_t bytes) {
  if (bytes == 0) return "–";
  if (bytes < 1000) return absl::StrFormat("%.6f", bytes / 1e6);
  if (bytes < 50000) return absl::StrFormat("%.3f", bytes / 1e6);
  return absl::StrFormat("%.1f", bytes / 1e6);
}

std::string Count(double count) {
  if (count < 1e3) return absl::StrFormat("%.0f ", count);
  if (count < 1e6) return absl::StrFormat("%.1f k", count / 1e3);
  if (count < 1e9) return absl::StrFormat("%.1f M", count / 1e6);
  if (count < 1e13) return absl::StrFormat("%.1f G", count / 1e9);
  return absl::StrFormat("%.1f T", count / 1e12);
}

std::string Counted(int64_t count, const std::string& what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string CountedShortly(int64_t count, const std::string& what) {
  if (count < 1000) return Counted(count, what);
  return absl::StrCat(Count(static_cast<double>(count)), " ", what, "s");
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
