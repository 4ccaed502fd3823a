// A bench for one product of cuBLASLt: operands of random numbers in memory of their own, on which
// algorithms are timed and their results compared. Nothing of a run is touched, so products are
// timed while the run's memory is not there yet.
//
// Times are those of a GPU that has other work, as in a step: before each run its cache is
// overwritten, during which the host starts the run, so that neither operands that are still in the
// cache nor the host's time count.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_BENCH_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_BENCH_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/gpu_memory.h"
#include "runtime/cuda/library/cublas_lt_matmul.h"

namespace yuba::cuda {

class LtBench {
 public:
  // Starts the product once on the stream.
  using Start = std::function<absl::Status(const LtPointers&, char* workspace)>;

  // `wait` blocks until `stream` is idle, or fails. Where it fails nothing is freed, as what hangs
  // may go on using it.
  LtBench(cudaStream_t stream, std::function<absl::Status()> wait);
  ~LtBench();
  LtBench(const LtBench&) = delete;

  // Once. ResourceExhausted where the GPU has no room for the operands, `workspace_bytes` and
  // `cache_bytes`, twice its cache.
  absl::Status Open(const LtShape& shape, int64_t workspace_bytes, int64_t cache_bytes);

  // Runs it until what happens once is over. An error where the start fails, or the GPU.
  absl::Status WarmUp(const Start& start);
  // The median of several runs of each, microseconds. They take turns, so that what changes with
  // time, as the GPU's clock, is the same for all.
  absl::StatusOr<std::vector<double>> Microseconds(const std::vector<Start>& starts);

  // Whether two runs leave the same bits, in the first 64 MiB of the result at least, and in sums.
  absl::StatusOr<bool> SameBits(const Start& start);

 private:
  struct Memory {
    ~Memory();
    GpuMemory a, b, d, residual, bias, aux, sums, workspace, cache;
    std::vector<cudaEvent_t> events;  // two for each start
  };
  // Elements of a matrix or of a batch of them, and where the first one lies in it.
  struct Span {
    int64_t elements = 0, first = 0;
  };
  static Span SpanOf(const LtOperand& operand, int64_t rows, int64_t columns, int64_t batch);
  absl::Status Place(GpuMemory& memory, ElementType type, const Span& span, const char** first);
  absl::Status Fill(char* to, ElementType type, int64_t elements);
  absl::StatusOr<std::vector<float>> Round(const std::vector<Start>& starts);
  absl::StatusOr<std::string> Result(const Start& start);
  absl::Status Wait();

  const cudaStream_t stream_;
  const std::function<absl::Status()> wait_;
  bool failed_ = false;  // a wait has
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  int64_t d_bytes_ = 0, sums_bytes_ = 0, cache_bytes_ = 0;
  LtPointers pointers_;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_BENCH_H_
