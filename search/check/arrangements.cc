#include "search/check/arrangements.h"

#include <utility>

namespace yuba::search {

Arrangements::Arrangements(std::vector<const std::vector<int>*> ways, int number, size_t grids)
    : ways_(std::move(ways)), number_(number), grids_(grids), next_(number, -1) {
  if (ways_.empty()) size_ = 1;
}

int Arrangements::NumberOf(const Order& order) {
  const auto& [factors, alike] = order;
  std::vector<bool> as_before;
  for (size_t i = 0; i < alike.size(); ++i) as_before.push_back(i > 0 && alike[i] == alike[i - 1]);
  const auto [known, is_new] =
      numbers_.emplace(std::make_pair(factors, as_before), static_cast<int>(places_.size()));
  if (!is_new) return known->second;
  std::vector<int>& places = places_.emplace_back();
  std::vector<int> ways(factors.size());
  for (size_t grid = 0; grid < grids_; ++grid) {
    for (size_t i = 0; i < factors.size(); ++i) {
      ways[i] = (*ways_[factors[i]])[grid];
      // Those of factors that are cut alike ascend.
      for (size_t j = i; as_before[j] && ways[j - 1] > ways[j]; --j) {
        std::swap(ways[j - 1], ways[j]);
      }
    }
    places.push_back(PlaceOf(ways));
  }
  return known->second;
}

int Arrangements::PlaceOf(const std::vector<int>& ways) {
  int node = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    const size_t edge = static_cast<size_t>(node) * number_ + ways[i];
    if (next_[edge] < 0) {
      const bool last = i + 1 == ways.size();
      next_[edge] = last ? size_++ : static_cast<int>(next_.size() / number_);
      if (!last) next_.resize(next_.size() + number_, -1);
    }
    node = next_[edge];
  }
  return node;
}

}  // namespace yuba::search
