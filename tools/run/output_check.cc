#include "tools/run/output_check.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "tools/report/text_table.h"

namespace yuba::tools {

namespace {

// How far an output is from the expected tensor.
struct Comparison {
  bool comparable = false;             // the two have one shape and element type
  double difference = 0, largest = 0;  // the largest difference; the largest expected magnitude
  double step = 0;       // of f16 and bf16: between the largest and its neighbour; else 0
  int64_t strange = 0;   // elements that are NaN or infinite in one tensor and not so in the other
  int64_t nan = 0;       // elements that are NaN in both
  int64_t infinite = 0;  // elements that are infinite in both, and of one sign
  int64_t elements = 0;
  std::string types;   // "f32[2, 3], and f32[3, 2]": where they are not comparable
  double allowed = 0;  // the most that `difference` may be
  // An element that is NaN in both says nothing about what was computed.
  bool only_nan() const { return comparable && elements > 0 && nan == elements; }
  bool ok() const { return comparable && strange == 0 && !only_nan() && difference <= allowed; }
};

// So many steps between neighbours are a difference that another order of additions makes.
constexpr int kNearSteps = 8;

// To one digit.
double RoundedUp(double number) {
  const double digit = std::pow(10.0, std::floor(std::log10(number)));
  return std::ceil(number / digit) * digit;
}

std::string Text(const Comparison& comparison) {
  if (!comparison.comparable) {
    return absl::StrCat("is ", comparison.types, " in the file: they cannot be compared");
  }
  const std::string elements = Counted(comparison.elements, "element");
  if (comparison.elements == 0) return "no elements, here and in the file";
  if (comparison.only_nan()) {
    return absl::StrCat("nothing to compare: NaN in all of ", elements,
                        ", here and in the file; --guard nan names what made the first one");
  }
  std::string text = absl::StrFormat("largest difference %.3g where values reach %.3g",
                                     comparison.difference, comparison.largest);
  const double near = kNearSteps * comparison.step;
  if (!comparison.ok() && comparison.step > 0 && comparison.difference <= near) {
    absl::StrAppend(&text, ", where numbers of its type are ",
                    absl::StrFormat("%.3g", comparison.step), " apart: --expect ",
                    absl::StrFormat("%g", RoundedUp(near / comparison.largest)), " allows ",
                    kNearSteps, " of these");
  }
  if (comparison.largest == 0 && comparison.ok() && comparison.nan + comparison.infinite == 0) {
    absl::StrAppend(&text, ": of ", elements, " all are 0");
  }
  if (comparison.nan > 0) {
    absl::StrAppend(&text, ", of ", elements, " ", comparison.nan, " NaN in both");
  }
  if (comparison.infinite > 0) {
    absl::StrAppend(&text, ", of ", elements, " ", comparison.infinite, " infinite in both");
  }
  if (comparison.strange > 0) {
    absl::StrAppend(&text, ", of ", elements, " ", comparison.strange,
                    comparison.strange == 1 ? " is" : " are",
                    " NaN or infinite here or in the file, but not in both");
  }
  return text;
}

// Integers must be equal, floats within `tolerance` times the largest expected magnitude.
Comparison Compare(const TensorData& expected, const TensorData& actual, double tolerance) {
  Comparison result;
  result.comparable = expected.type == actual.type && expected.dims == actual.dims &&
                      expected.data.size() == actual.data.size();
  if (!result.comparable) {
    const auto text = [](const TensorData& tensor) {
      return absl::StrCat(Name(tensor.type), "[", absl::StrJoin(tensor.dims, ", "), "]");
    };
    result.types = absl::StrCat(text(actual), ", and ", text(expected));
    return result;
  }
  result.elements = static_cast<int64_t>(expected.data.size()) / ByteSize(expected.type);
  for (int64_t i = 0; i < result.elements; ++i) {
    const double wanted = ValueAt(expected, i), got = ValueAt(actual, i);
    if (std::isnan(wanted) && std::isnan(got)) {
      ++result.nan;
      continue;
    }
    if (!std::isfinite(wanted) || !std::isfinite(got)) {
      (wanted == got ? result.infinite : result.strange) += 1;
      continue;
    }
    result.difference = std::max(result.difference, std::fabs(wanted - got));
    result.largest = std::max(result.largest, std::fabs(wanted));
  }
  const int digits = expected.type == ElementType::kF16 ? 10 : 7;  // binary, behind the first
  const bool half = expected.type == ElementType::kF16 || expected.type == ElementType::kBF16;
  const int least = expected.type == ElementType::kF16 ? -14 : -126;  // below, steps are equal
  if (half && result.largest > 0) {
    result.step = std::ldexp(1.0, std::max(std::ilogb(result.largest), least) - digits);
  }
  result.allowed = IsFloat(expected.type) ? tolerance * result.largest : 0;
  // Two large integers can be one double.
  const bool unequal = !IsFloat(expected.type) && expected.data != actual.data;
  if (unequal) result.difference = std::max(result.difference, 1.0);
  return result;
}

}  // namespace

OutputCheck::OutputCheck(const RunFlags& flags) : flags_(flags) {
  verdict_ = {{"ok", true},
              {"tolerance", flags.expect.value_or(0)},
              {"outputs", nlohmann::ordered_json::array()}};
}

absl::Status OutputCheck::Check(runtime::Session& session, const std::vector<std::string>& outputs,
                                const Expected& expected, int64_t step) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].has_value()) continue;
    const std::string& name = outputs[i];
    YUBA_ASSIGN_OR_RETURN(const TensorData actual,
                          session.Get(name, runtime::Gathered::kByFirstRank));
    if (!session.IsFirstRank()) continue;
    const Comparison comparison = Compare(*expected[i], actual, flags_.expect.value_or(0));
    (flags_.json ? std::cerr : std::cout)
        << (comparison.ok() ? "ok   " : "WRONG ") << name
        << (step > 0 ? absl::StrCat(" of step ", step) : "") << ": " << Text(comparison) << "\n";
    verdict_["outputs"].push_back({{"name", name},
                                   {"ok", comparison.ok()},
                                   {"comparable", comparison.comparable},
                                   {"largest_difference", comparison.difference},
                                   {"largest_expected", comparison.largest},
                                   {"allowed", comparison.allowed},
                                   {"elements", comparison.elements},
                                   {"nan_in_both", comparison.nan},
                                   {"infinite_in_both", comparison.infinite},
                                   {"not_finite", comparison.strange}});
    if (step > 0) verdict_["outputs"].back()["step"] = step;
    wrong_ |= !comparison.ok();
    differs_ |= !comparison.ok() && !comparison.only_nan();
    compared_ |= comparison.comparable && comparison.nan < comparison.elements;
    verdict_["ok"] = compared_ && !wrong_;
  }
  return absl::OkStatus();
}

absl::Status OutputCheck::Result() const {
  if (verdict_["ok"] == true) return absl::OkStatus();
  return absl::FailedPreconditionError(differs_ ? "an output differs from what was expected"
                                                : "there was nothing to compare");
}

}  // namespace yuba::tools
