// The few kernels that the runtime brings itself. nvcc makes PTX of them, whose text is compiled
// into the runtime (own_kernels in BUILD.bazel). The PTX has the toolkit's ISA version; a driver
// that is new enough for the toolkit's cudart takes it.
#include "runtime/cuda/job.h"
#include "runtime/cuda/matrix_copy.h"
#include "runtime/cuda/row_sort.h"

namespace {
__device__ int64_t Thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ int64_t Threads() { return int64_t{gridDim.x} * blockDim.x; }

// All phases of the block's tile.
template <typename Key>
__device__ void SortTiles(const yuba::cuda::RowSort& sort) {
  __shared__ yuba::cuda::SortTile<Key> tile;
  const int phases = yuba::cuda::SortPhases(sort);
  for (int phase = 0; phase < phases; ++phase) {
    yuba::cuda::RunSortPhase<Key>(sort, phase, tile, blockIdx.x, static_cast<int>(threadIdx.x));
    __syncthreads();
  }
}
}  // namespace

// Runs one job of job.h.
extern "C" __global__ void yuba_job(const int64_t* job) {
  yuba::cuda::RunJob(job, Thread(), Threads());
}

// Runs one copy of matrix_copy.h.
extern "C" __global__ void yuba_matrix(yuba::cuda::MatrixCopy copy) {
  yuba::cuda::RunMatrixCopy(copy, Thread(), Threads());
}

// Notes for the host how far the stream has come (marks.h).
extern "C" __global__ void yuba_mark(int64_t* to, int64_t number) {
  __threadfence_system();
  *static_cast<volatile int64_t*>(to) = number;
}

// Sorts of row_sort.h, with keys of 4 and 8 bytes: each block a tile, and each thread a share of a
// merge.
extern "C" __global__ void __launch_bounds__(yuba::cuda::kSortThreads<uint32_t>, 2)
    yuba_sort_4(yuba::cuda::RowSort sort) {
  SortTiles<uint32_t>(sort);
}
extern "C" __global__ void __launch_bounds__(yuba::cuda::kSortThreads<uint64_t>, 2)
    yuba_sort_8(yuba::cuda::RowSort sort) {
  SortTiles<uint64_t>(sort);
}
extern "C" __global__ void yuba_merge_4(yuba::cuda::RowSort sort) {
  yuba::cuda::RunSortMerge<uint32_t>(sort, Thread());
}
extern "C" __global__ void yuba_merge_8(yuba::cuda::RowSort sort) {
  yuba::cuda::RunSortMerge<uint64_t>(sort, Thread());
}
