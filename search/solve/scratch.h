// Memory for rows of numbers that are needed for a short time and all given back at once.
#ifndef YUBA_SEARCH_SOLVE_SCRATCH_H_
#define YUBA_SEARCH_SOLVE_SCRATCH_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace yuba::search {

class Scratch {
 public:
  // `count` uninitialized numbers; they stay where they are until Clear.
  double* Take(size_t count) {
    while (chunk_ < chunks_.size() && used_ + count > chunks_[chunk_].size) {
      ++chunk_;
      used_ = 0;
    }
    if (chunk_ == chunks_.size()) {
      const size_t size = std::max(count, kChunk);
      chunks_.push_back({std::unique_ptr<double[]>(new double[size]), size});
    }
    double* const taken = chunks_[chunk_].cells.get() + used_;
    used_ += count;
    return taken;
  }

  void Clear() { chunk_ = used_ = 0; }

 private:
  static constexpr size_t kChunk = size_t{1} << 14;
  struct Chunk {
    std::unique_ptr<double[]> cells;
    size_t size = 0;
  };

  std::vector<Chunk> chunks_;
  size_t chunk_ = 0, used_ = 0;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_SCRATCH_H_
