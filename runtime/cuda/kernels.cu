// The few kernels that the runtime brings itself. nvcc makes PTX of them, whose text is compiled
// into the runtime (own_kernels in BUILD.bazel). The PTX has the toolkit's ISA version; a driver
// that is new enough for the toolkit's cudart takes it.
#include "runtime/cuda/job.h"
#include "runtime/cuda/matrix_copy.h"

namespace {
__device__ int64_t Thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ int64_t Threads() { return int64_t{gridDim.x} * blockDim.x; }
}  // namespace

// Runs one job of job.h.
extern "C" __global__ void yuba_job(const int64_t* job) {
  yuba::cuda::RunJob(job, Thread(), Threads());
}

// Runs one copy of matrix_copy.h.
extern "C" __global__ void yuba_matrix(yuba::cuda::MatrixCopy copy) {
  yuba::cuda::RunMatrixCopy(copy, Thread(), Threads());
}
