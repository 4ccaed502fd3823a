// Turns walks (walk.h) into jobs of a GPU: the lists of numbers of job.h, in host memory. Pointers
// are addresses in the GPU's memory; they are written down, not followed, so nothing here needs a
// GPU.
#ifndef YUBA_RUNTIME_CUDA_MAKE_JOB_H_
#define YUBA_RUNTIME_CUDA_MAKE_JOB_H_

#include <cstdint>
#include <vector>

#include "runtime/reduce.h"
#include "runtime/walk.h"

namespace yuba::cuda {

// A job that does what CombineWalk does (reduce.h).
std::vector<int64_t> CombineJob(const runtime::Combination& combination,
                                const runtime::BoxWalk& walk,
                                const std::vector<const char*>& partials, char* result);

// A job that does what CopyWalk does. Elements have 1, 2, 4 or 8 bytes.
std::vector<int64_t> CopyJob(const runtime::BoxWalk& walk, const char* from, char* to,
                             int64_t element_bytes);

// A copy of rows of contiguous bytes, as cudaMemcpy2DAsync makes it: row r goes from
// from + r * from_pitch to to + r * to_pitch, all in bytes from the buffers' first elements.
struct RowCopy {
  bool possible = false;  // the walk is such a copy; if not, the other fields are unset
  int64_t rows = 0, row_bytes = 0;
  int64_t from = 0, from_pitch = 0, to = 0, to_pitch = 0;
};
RowCopy AsRows(const runtime::BoxWalk& walk, int64_t element_bytes);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_MAKE_JOB_H_
