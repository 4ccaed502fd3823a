#include "runtime/ranks/facts_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace yuba::runtime {
namespace {

constexpr absl::string_view kTitle = "yuba rank";
constexpr int kMostProcessors = 16384;
constexpr size_t kLines = 8;

// A name as part of one line.
std::string Line(absl::string_view name) {
  std::string line(name.substr(0, 250));
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

// Four processors a digit, the first ones first.
std::string DigitsOf(const std::vector<int>& processors) {
  std::vector<int> digits;
  for (int processor : processors) {
    if (processor < 0 || processor >= kMostProcessors) continue;
    digits.resize(std::max<size_t>(digits.size(), processor / 4 + 1));
    digits[processor / 4] |= 1 << processor % 4;
  }
  std::string text;
  for (int digit : digits) text += "0123456789abcdef"[digit];
  return text;
}

std::vector<int> ProcessorsOfDigits(absl::string_view text) {
  std::vector<int> processors;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = absl::string_view("0123456789abcdef").find(text[i]);
    for (int bit = 0; bit < 4; ++bit) {
      if (digit < 16 && (digit >> bit & 1)) processors.push_back(static_cast<int>(4 * i) + bit);
    }
  }
  return processors;
}

}  // namespace

std::string FactsText(const RankFacts& facts) {
  std::string text = absl::StrCat(kTitle, "\n", Line(facts.version), "\n", facts.rank, "\n",
                                  facts.size, "\n", Line(facts.launcher), "\n", Line(facts.host),
                                  "\n", facts.process, "\n", DigitsOf(facts.processors), "\n");
  text.resize(kFactsBytes, '\0');
  return text;
}

absl::optional<RankFacts> FactsOf(absl::string_view bytes) {
  const absl::string_view text = bytes.substr(0, bytes.find('\0'));
  const std::vector<absl::string_view> lines = absl::StrSplit(text, '\n');
  if (lines.size() < kLines || lines[0] != kTitle) return absl::nullopt;
  RankFacts facts;
  facts.version = std::string(lines[1]);
  facts.launcher = std::string(lines[4]);
  facts.host = std::string(lines[5]);
  facts.processors = ProcessorsOfDigits(lines[7]);
  const bool numbers = absl::SimpleAtoi(lines[2], &facts.rank) &&
                       absl::SimpleAtoi(lines[3], &facts.size) &&
                       absl::SimpleAtoi(lines[6], &facts.process);
  return numbers ? absl::make_optional(facts) : absl::nullopt;
}

}  // namespace yuba::runtime
