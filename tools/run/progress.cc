#include "tools/run/progress.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

// With three digits: "4.97", "59.6", "1234".
std::string Rate(double rate) {
  const int decimals = rate < 10 ? 2 : rate < 100 ? 1 : 0;
  return absl::StrFormat("%.*f", decimals, rate);
}

}  // namespace

std::string NumbersText(const Numbers& numbers) {
  std::string text;
  const bool weightless = IsWeightless(numbers);
  for (const Number& number : numbers) {
    const bool of_nothing = weightless && WeightOf(numbers, number.name) != nullptr;
    if (number.weight_of.empty() && !of_nothing)
      absl::StrAppend(&text, "  ", number.name, " ", NumberText(number.value));
  }
  if (weightless) absl::StrAppend(&text, "  no label counts");
  return text;
}

std::string NumberText(double number) {
  return std::isnan(number) ? "nan" : absl::StrFormat("%.7g", number);  // and not "-nan"
}

std::string Duration(double seconds) {
  constexpr double kLongest = 1e9;  // some thirty years
  const auto whole = static_cast<int64_t>(std::llround(std::min(seconds, kLongest)));
  return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string LineOf(const StepReport& report) {
  std::string line = report.name;
  absl::StrAppend(&line, NumbersText(report.numbers));
  if (IsWeightless(report.numbers)) absl::StrAppend(&line, ", so nothing changes");
  const double rate = 1 / std::max(report.seconds, 1e-9);
  absl::StrAppendFormat(&line, "  %.1f ms  %s steps/s", report.seconds * 1e3, Rate(rate));
  if (report.examples > 0) {
    absl::StrAppendFormat(&line, "  %s examples/s",
                          Rate(static_cast<double>(report.examples) * rate));
  }
  absl::StrAppendFormat(&line, "  moved %s  memory %s", Bytes(report.moved), Bytes(report.memory));
  if (report.timed) {
    absl::StrAppendFormat(&line, "  copying %.0f %%  waiting %.0f %%", 100 * report.copying,
                          100 * report.waiting);
  }
  if (report.left > 0) absl::StrAppendFormat(&line, "  ETA %s", Duration(report.left));
  return line;
}

}  // namespace yuba::tools
