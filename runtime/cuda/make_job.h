// Walks as jobs of a GPU (job.h).
#ifndef YUBA_RUNTIME_CUDA_MAKE_JOB_H_
#define YUBA_RUNTIME_CUDA_MAKE_JOB_H_

#include <cstdint>
#include <vector>

#include "runtime/reduce.h"
#include "runtime/walk.h"

namespace yuba::cuda {

// What CombineWalk does.
std::vector<int64_t> CombineJob(const runtime::Combination& combination,
                                const runtime::BoxWalk& walk, const std::vector<const char*>& parts,
                                char* result);

// What CopyWalk does.
std::vector<int64_t> CopyJob(const runtime::BoxWalk& walk, const char* from, char* to,
                             int64_t element_bytes);

// A walk of two buffers that is rows of contiguous bytes: what cudaMemcpy2DAsync copies.
struct RowCopy {
  bool possible = false;
  int64_t rows = 0, row_bytes = 0;
  int64_t from = 0, from_pitch = 0, to = 0, to_pitch = 0;  // bytes
};
RowCopy AsRows(const runtime::BoxWalk& walk, int64_t element_bytes);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_MAKE_JOB_H_
