// A sort of rows as launches of the kernels of row_sort.h. Nothing here needs a GPU.
//
// Example: 3 rows of 5,000 floats have 3 tiles each: a launch of 9 blocks that sorts tiles, one
// that merges runs of 2048 to runs of 4096, and one that merges these to whole rows, as places.
#ifndef YUBA_RUNTIME_CUDA_SORT_PLAN_H_
#define YUBA_RUNTIME_CUDA_SORT_PLAN_H_

#include <cstdint>
#include <vector>

#include "runtime/cuda/row_sort.h"
#include "runtime/opaque_slices.h"

namespace yuba::cuda {

// Bytes that rows which are sorted at once may take in the workspace, unless a single one needs
// more.
constexpr int64_t kSortWorkspaceBytes = int64_t{256} << 20;

struct SortLaunch {
  bool merges = false;  // else it sorts tiles
  int64_t blocks = 0;
  int threads = 0;
  RowSort sort;
};

class SortPlan {
 public:
  // `slices` are those of argsort, which has one argument.
  SortPlan(const runtime::OpaqueSlices& slices, bool hash,
           int64_t most_workspace = kSortWorkspaceBytes);

  bool wide() const { return wide_; }  // whether keys have 8 bytes, else 4
  int64_t workspace_bytes() const { return workspace_bytes_; }
  // The numbers of RowSort::job, for buffers that begin at these addresses.
  std::vector<int64_t> Job(const char* argument, char* result) const;
  // What is started, in order, where these numbers and the workspace are.
  std::vector<SortLaunch> Launches(const int64_t* job, char* workspace) const;

 private:
  template <typename Key>
  std::vector<SortLaunch> LaunchesOf(const int64_t* job, char* workspace) const;

  runtime::OpaqueSlices slices_;
  bool hash_ = false, wide_ = false;
  RowSort sort_ = {};  // without what a launch changes
  int64_t rows_at_once_ = 0;
  int64_t keys_bytes_ = 0, places_bytes_ = 0;  // of a buffer in the workspace
  int64_t workspace_bytes_ = 0;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_SORT_PLAN_H_
