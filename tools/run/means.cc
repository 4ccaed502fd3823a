#include "tools/run/means.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace yuba::tools {
namespace {

constexpr char kWeight[] = "_weight";

const double* Find(const Numbers& numbers, const std::string& name) {
  const auto found = std::find_if(numbers.begin(), numbers.end(),
                                  [&](const auto& number) { return number.first == name; });
  return found == numbers.end() ? nullptr : &found->second;
}

}  // namespace

const double* WeightOf(const Numbers& numbers, const std::string& name) {
  return Find(numbers, absl::StrCat(name, kWeight));
}

bool IsWeight(const Numbers& numbers, const std::string& name) {
  absl::string_view of = name;
  return absl::ConsumeSuffix(&of, kWeight) && Find(numbers, std::string(of)) != nullptr;
}

bool IsWeightless(const Numbers& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [&](const auto& number) {
    return number.second == 0 && IsWeight(numbers, number.first);
  });
}

void Means::Add(const Numbers& numbers) {
  for (const auto& [name, number] : numbers) {
    auto sum = std::find_if(sums_.begin(), sums_.end(),
                            [&name = name](const Sum& one) { return one.name == name; });
    if (sum == sums_.end()) sum = sums_.insert(sum, Sum{name});
    const double* weight = WeightOf(numbers, name);
    if (IsWeight(numbers, name)) {
      sum->terms += number;
      sum->weights = 1;
    } else if (weight != nullptr) {
      if (*weight == 0) continue;  // whatever is measured of nothing
      sum->terms += number * *weight;
      sum->weights += *weight;
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
