// Many boxes of one tensor, and how many elements two of them share.
//
// Thousands of boxes have few different intervals along each dimension: a tensor [32, 64] cut into
// 4 has 4 along the first. Intervals are numbered, overlaps of two intervals are counted once, and
// the elements that two boxes share are a product of such overlaps.
#ifndef YUBA_SEARCH_CHECK_DEVICE_BOXES_H_
#define YUBA_SEARCH_CHECK_DEVICE_BOXES_H_

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/box.h"

namespace yuba::search {

// Boxes in the order in which they were added, all of one rank.
class BoxSet {
 public:
  explicit BoxSet(size_t dimensions) : intervals_(dimensions), numbers_(dimensions) {}

  void Add(const Box& box);
  // A box given by the number of its interval along each dimension, and its number of elements.
  void Add(const std::vector<int>& numbers, int64_t volume);
  // The number of an interval of a dimension, a new one where it is not there yet.
  int Number(size_t dimension, const Interval& interval);

  size_t dimensions() const { return intervals_.size(); }
  size_t size() const { return volumes_.size(); }
  // The elements of a box; of `count` boxes from there on, added up.
  int64_t Elements(size_t box) const { return volumes_[box]; }
  int64_t Elements(size_t box, size_t count) const {
    return std::accumulate(volumes_.begin() + box, volumes_.begin() + box + count, int64_t{0});
  }
  // By dimension: the number of the box's interval there. Equal for equal boxes.
  const int* Numbers(size_t box) const { return codes_.data() + box * dimensions(); }
  bool Equal(size_t a, size_t b) const;
  const std::vector<Interval>& intervals(size_t dimension) const { return intervals_[dimension]; }

 private:
  std::vector<std::vector<Interval>> intervals_;
  std::vector<absl::flat_hash_map<std::pair<int64_t, int64_t>, int>> numbers_;
  std::vector<int> codes_;
  std::vector<int64_t> volumes_;
};

// How many elements box x of set `a` shares with box y of set `b`.
class CommonElements {
 public:
  CommonElements(const BoxSet& a, const BoxSet& b);

  int64_t operator()(size_t x, size_t y) const { return Sum(x, y, 1); }

  // The same added up over x and y, x + 1 and y + 1, ..., `count` pairs in all.
  int64_t Sum(size_t x, size_t y, size_t count) const {
    switch (dimensions_) {
      case 1: return SumOver<1>(x, y, count);
      case 2: return SumOver<2>(x, y, count);
      case 3: return SumOver<3>(x, y, count);
      default: return SumOver<0>(x, y, count);
    }
  }

 private:
  // Sum over kDimensions dimensions; 0: over dimensions_.
  template <size_t kDimensions>
  int64_t SumOver(size_t x, size_t y, size_t count) const {
    const size_t dimensions = kDimensions == 0 ? dimensions_ : kDimensions;
    const int* row = rows_.data() + x * dimensions;
    const int* column = columns_.data() + y * dimensions;
    int64_t sum = 0;
    for (size_t pair = 0; pair < count; ++pair, row += dimensions, column += dimensions) {
      int64_t elements = whole_;
      for (size_t d = 0; d < dimensions; ++d) elements *= common_[row[d] + column[d]];
      sum += elements;
    }
    return sum;
  }

  size_t dimensions_ = 0;        // along which a or b has more than one interval
  int64_t whole_ = 1;            // the elements shared along all others, multiplied
  std::vector<int64_t> common_;  // [dimension, interval of a][interval of b]
  std::vector<int> rows_;        // by box of a and dimension: where its row of common_ begins
  std::vector<int> columns_;     // by box of b and dimension: its place in such a row
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_DEVICE_BOXES_H_
