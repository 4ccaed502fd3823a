#include "search/check/device_boxes.h"

#include <algorithm>

namespace yuba::search {

void BoxSet::Add(const Box& box) {
  int64_t volume = 1;
  for (size_t d = 0; d < box.size(); ++d) {
    volume *= box[d].size();
    codes_.push_back(Number(d, box[d]));
  }
  volumes_.push_back(volume);
}

void BoxSet::Add(const std::vector<int>& numbers, int64_t volume) {
  codes_.insert(codes_.end(), numbers.begin(), numbers.end());
  volumes_.push_back(volume);
}

int BoxSet::Number(size_t dimension, const Interval& interval) {
  const auto [found, is_new] = numbers_[dimension].try_emplace(
      std::pair(interval.begin, interval.end), static_cast<int>(intervals_[dimension].size()));
  if (is_new) intervals_[dimension].push_back(interval);
  return found->second;
}

bool BoxSet::Equal(size_t a, size_t b) const {
  return std::equal(Numbers(a), Numbers(a) + dimensions(), Numbers(b));
}

CommonElements::CommonElements(const BoxSet& a, const BoxSet& b) {
  std::vector<size_t> varying;  // dimensions with more than one interval
  std::vector<int> first;       // by entry of varying: where its overlaps begin in common_
  for (size_t d = 0; d < a.dimensions(); ++d) {
    if (a.intervals(d).size() == 1 && b.intervals(d).size() == 1) {
      whole_ *= Intersect(a.intervals(d)[0], b.intervals(d)[0]).size();
      continue;
    }
    varying.push_back(d);
    first.push_back(static_cast<int>(common_.size()));
    for (const Interval& x : a.intervals(d)) {
      for (const Interval& y : b.intervals(d)) common_.push_back(Intersect(x, y).size());
    }
  }
  dimensions_ = varying.size();
  for (size_t box = 0; box < a.size(); ++box) {
    for (size_t i = 0; i < varying.size(); ++i) {
      const int row = a.Numbers(box)[varying[i]];
      rows_.push_back(first[i] + row * static_cast<int>(b.intervals(varying[i]).size()));
    }
  }
  for (size_t box = 0; box < b.size(); ++box) {
    for (size_t d : varying) columns_.push_back(b.Numbers(box)[d]);
  }
}

}  // namespace yuba::search
