// The few kernels that the runtime brings itself. nvcc makes PTX of them, which is compiled into
// the runtime; its ISA is the toolkit's, as the driver that the toolkit's cudart needs takes.
#include "runtime/cuda/job.h"

namespace {
__device__ int64_t Thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ int64_t Threads() { return int64_t{gridDim.x} * blockDim.x; }
}  // namespace

extern "C" __global__ void yuba_job(const int64_t* job) {
  yuba::cuda::RunJob(job, Thread(), Threads());
}

// Between strided matrices: for packing operands of a matrix product.
extern "C" __global__ void yuba_matrix(const float* from, int64_t from_row, int64_t from_column,
                                       float* to, int64_t to_row, int64_t to_column, int64_t rows,
                                       int64_t columns) {
  for (int64_t i = Thread(); i < rows * columns; i += Threads()) {
    const int64_t row = i / columns, column = i % columns;
    to[row * to_row + column * to_column] = from[row * from_row + column * from_column];
  }
}
