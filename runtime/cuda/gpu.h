// One GPU with a program's kernels and the runtime's own kernels (kernels.cu) loaded. Its virtual
// devices share it; the modules are unloaded with the last of them. Calls may come from several
// threads.
#ifndef YUBA_RUNTIME_CUDA_GPU_H_
#define YUBA_RUNTIME_CUDA_GPU_H_

#include <memory>
#include <string>

#include "runtime/cuda/error.h"
#include "runtime/cuda/matrix_copy.h"
#include "runtime/cuda/sort_plan.h"
#include "runtime/program/program.h"

namespace yuba::cuda {

class Gpu {
 public:
  // Opens GPU `number`, as cudart counts, and compiles the PTX of the program for it. Unavailable
  // where the program is for newer GPUs than this one, or this build has no kernels of its own.
  static absl::StatusOr<std::shared_ptr<const Gpu>> Open(int number,
                                                         const runtime::LoadedProgram& program);
  ~Gpu();
  Gpu(const Gpu&) = delete;

  int number() const { return number_; }
  // Makes this the calling thread's GPU: to be called before any other call for it.
  absl::Status Enter() const;

  // A generated kernel of the program; a user's error where it has none of that name.
  absl::StatusOr<CUfunction> Find(const std::string& symbol) const;

  // Starts `function` on `stream` in so many blocks of so many threads. `parameters` are pointers
  // to the parameters' values, as cuLaunchKernel takes them. Without blocks nothing is started.
  absl::Status Launch(CUfunction function, int64_t blocks, int threads, void** parameters,
                      cudaStream_t stream) const;
  // Starts a job of job.h, whose numbers lie in this GPU's memory.
  absl::Status LaunchJob(const int64_t* job, int64_t elements, cudaStream_t stream) const;

  absl::Status LaunchMatrixCopy(const MatrixCopy& copy, cudaStream_t stream) const;
  // Writes a number into memory of the host or the GPU when the stream comes there.
  absl::Status LaunchMark(int64_t* to, int64_t number, cudaStream_t stream) const;
  // A launch of a SortPlan; `wide` as it says.
  absl::Status LaunchSort(const SortLaunch& launch, bool wide, cudaStream_t stream) const;

 private:
  explicit Gpu(int number) : number_(number) {}
  absl::Status Load(const runtime::LoadedProgram& program);
  // Starts one of the runtime's own kernels with a thread for each of `elements`, up to what the
  // GPU holds at once; threads take the rest in turn.
  absl::Status LaunchRound(CUfunction function, int64_t elements, void** parameters,
                           cudaStream_t stream) const;
  absl::StatusOr<CUmodule> Compile(const std::string& ptx, const char* what) const;

  const int number_;
  int processors_ = 1;
  const Driver* driver_ = nullptr;
  CUmodule program_ = nullptr, own_ = nullptr;
  CUfunction job_ = nullptr, matrix_ = nullptr, mark_ = nullptr;
  CUfunction sort_[2] = {}, merge_[2] = {};  // [wide]
};

// PTX of kernels.cu; empty where nvcc was missing.
extern const char kOwnKernels[];

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_GPU_H_
