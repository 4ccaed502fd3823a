#include "tools/run/means.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace yuba::tools {
namespace {

constexpr char kLossWeight[] = "loss_weight";

}  // namespace

bool IsLossWeight(const std::string& name) {
  return name == kLossWeight || absl::EndsWith(name, absl::StrCat(":", kLossWeight));
}

bool IsLoss(const std::string& name) { return IsLossWeight(absl::StrCat(name, "_weight")); }

bool IsWeightless(const Numbers& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](const auto& number) {
    return IsLossWeight(number.first) && number.second == 0;
  });
}

void Means::Add(const Numbers& numbers) {
  for (const auto& [name, number] : numbers) {
    auto sum = std::find_if(sums_.begin(), sums_.end(),
                            [&name = name](const Sum& one) { return one.name == name; });
    if (sum == sums_.end()) sum = sums_.insert(sum, Sum{name});
    const auto weight = std::find_if(
        numbers.begin(), numbers.end(),
        [own = absl::StrCat(name, "_weight")](const auto& other) { return other.first == own; });
    if (IsLossWeight(name)) {
      sum->terms += number;
      sum->weights = 1;
    } else if (IsLoss(name) && weight != numbers.end()) {
      if (weight->second == 0) continue;  // whatever the loss of nothing is
      sum->terms += number * weight->second;
      sum->weights += weight->second;
    } else {
      sum->terms += number;
      sum->weights += 1;
    }
  }
}

Numbers Means::Values() const {
  Numbers values;
  for (const Sum& sum : sums_) values.emplace_back(sum.name, sum.terms / sum.weights);
  return values;
}

}  // namespace yuba::tools
