#include "tools/run/means.h"

#include <algorithm>

namespace yuba::tools {

const double* WeightOf(const Numbers& numbers, const std::string& name) {
  const auto found = std::find_if(numbers.begin(), numbers.end(), [&](const Number& number) {
    return !number.weight_of.empty() && number.weight_of == name;
  });
  return found == numbers.end() ? nullptr : &found->value;
}

bool IsWeightless(const Numbers& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](const Number& number) {
    return !number.weight_of.empty() && number.value == 0;
  });
}

void Means::Add(const Numbers& numbers) {
  for (const Number& number : numbers) {
    auto sum = std::find_if(sums_.begin(), sums_.end(),
                            [&](const Sum& one) { return one.number.name == number.name; });
    if (sum == sums_.end()) sum = sums_.insert(sum, Sum{number});
    const double* weight = WeightOf(numbers, number.name);
    if (!number.weight_of.empty()) {
      sum->terms += number.value;
      sum->weights = 1;
    } else if (weight != nullptr) {
      if (*weight == 0) continue;  // whatever is measured of nothing
      sum->terms += number.value * *weight;
      sum->weights += *weight;
    } else {
      sum->terms += number.value;
      sum->weights += 1;
    }
  }
}

Numbers Means::Values() const {
  Numbers values;
  for (const Sum& sum : sums_) {
    values.push_back(sum.number);
    values.back().value = sum.terms / sum.weights;
  }
  return values;
}

}  // namespace yuba::tools
