// The few kernels that the runtime brings itself. nvcc makes PTX of them, whose text is compiled
// into the runtime (own_kernels in BUILD.bazel). The PTX has the toolkit's ISA version; a driver
// that is new enough for the toolkit's cudart takes it.
#include "runtime/cuda/job.h"

namespace {
__device__ int64_t Thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ int64_t Threads() { return int64_t{gridDim.x} * blockDim.x; }
}  // namespace

// Runs one job of job.h.
extern "C" __global__ void yuba_job(const int64_t* job) {
  yuba::cuda::RunJob(job, Thread(), Threads());
}

// Copies a strided matrix to another: packs operands of a matrix product and unpacks its result.
extern "C" __global__ void yuba_matrix(const float* from, int64_t from_row, int64_t from_column,
                                       float* to, int64_t to_row, int64_t to_column, int64_t rows,
                                       int64_t columns) {
  for (int64_t i = Thread(); i < rows * columns; i += Threads()) {
    const int64_t row = i / columns, column = i % columns;
    to[row * to_row + column * to_column] = from[row * from_row + column * from_column];
  }
}
