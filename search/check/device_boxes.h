// Many boxes of one tensor, and how many elements two of them share: counted dimension by
// dimension, between the few intervals that there are of each.
#ifndef YUBA_SEARCH_CHECK_DEVICE_BOXES_H_
#define YUBA_SEARCH_CHECK_DEVICE_BOXES_H_

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "opsemantics/base/box.h"

namespace yuba::search {

class BoxSet {
 public:
  explicit BoxSet(size_t dimensions) : intervals_(dimensions), numbers_(dimensions) {}

  void Add(const Box& box);
  void Add(const std::vector<int>& numbers, int64_t volume);
  // That of an interval of a dimension.
  int Number(size_t dimension, const Interval& interval);

  size_t dimensions() const { return intervals_.size(); }
  size_t size() const { return volumes_.size(); }
  // Of that box, and of `count` from there on.
  int64_t Elements(size_t box) const { return volumes_[box]; }
  int64_t Elements(size_t box, size_t count) const {
    return std::accumulate(volumes_.begin() + box, volumes_.begin() + box + count, int64_t{0});
  }
  // By dimension: which of that dimension's intervals. Equal for equal boxes.
  const int* Numbers(size_t box) const { return codes_.data() + box * dimensions(); }
  bool Equal(size_t a, size_t b) const;
  const std::vector<Interval>& intervals(size_t dimension) const { return intervals_[dimension]; }

 private:
  std::vector<std::vector<Interval>> intervals_;
  std::vector<absl::flat_hash_map<std::pair<int64_t, int64_t>, int>> numbers_;
  std::vector<int> codes_;
  std::vector<int64_t> volumes_;
};

// The elements that boxes of one set share with boxes of another.
class CommonElements {
 public:
  CommonElements(const BoxSet& a, const BoxSet& b);

  int64_t operator()(size_t x, size_t y) const { return Sum(x, y, 1); }

  // Of x and y, x + 1 and y + 1, ..., `count` pairs in all.
  int64_t Sum(size_t x, size_t y, size_t count) const {
    switch (dimensions_) {
      case 1: return SumOver<1>(x, y, count);
      case 2: return SumOver<2>(x, y, count);
      case 3: return SumOver<3>(x, y, count);
      default: return SumOver<0>(x, y, count);
    }
  }

 private:
  // Over that many dimensions; 0: over all that there are.
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

  size_t dimensions_ = 0;        // those of which there is more than one interval
  int64_t whole_ = 1;            // in all others
  std::vector<int64_t> common_;  // [dimension, interval of a][interval of b]
  std::vector<int> rows_;        // by box of a and dimension: where its row begins
  std::vector<int> columns_;     // by box of b and dimension
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_DEVICE_BOXES_H_
