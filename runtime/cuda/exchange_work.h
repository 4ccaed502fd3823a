// What one device does by itself in exchanges: copies of rows where they are possible and fast,
// else jobs (job.h) that copy or combine. All of it is written down first, then stored in the
// GPU's memory once, and from then on only started.
//
//   std::vector<ExchangeWork::Part> parts = {work.Copy(walk, from, to, 4)};
//   work.Store(stream);
//   work.Start(parts[0], gpu, stream);
#ifndef YUBA_RUNTIME_CUDA_EXCHANGE_WORK_H_
#define YUBA_RUNTIME_CUDA_EXCHANGE_WORK_H_

#include <cstdint>
#include <vector>

#include "runtime/cuda/gpu.h"
#include "runtime/cuda/gpu_memory.h"
#include "runtime/cuda/make_job.h"

namespace yuba::cuda {

class ExchangeWork {
 public:
  // One copy or combination.
  struct Part {
    RowCopy rows;
    const char* from = nullptr;
    char* to = nullptr;
    size_t job = 0;        // position of the job's numbers, where rows are not possible
    int64_t elements = 0;  // of the job
  };

  // What CopyWalk (walk.h) and CombineWalk (reduce.h) do. Pointers are to memory that the GPU
  // reaches.
  Part Copy(const runtime::BoxWalk& walk, const char* from, char* to, int64_t element_bytes);
  Part Combine(const runtime::Combination& combination, const runtime::BoxWalk& walk,
               const std::vector<const char*>& partials, char* result);

  // Once, after all of the above: into memory of the calling thread's GPU, before whatever is
  // started on `stream` later.
  absl::Status Store(cudaStream_t stream);

  // After Store. `gpu` is the calling thread's.
  absl::Status Start(const Part& part, const Gpu& gpu, cudaStream_t stream) const;

 private:
  Part AddJob(const std::vector<int64_t>& job);

  std::vector<int64_t> numbers_;  // of all jobs, until they are stored
  GpuMemory stored_;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_EXCHANGE_WORK_H_
