// One GPU with a program's kernels and the runtime's own loaded. Shared by its virtual devices.
#ifndef YUBA_RUNTIME_CUDA_GPU_H_
#define YUBA_RUNTIME_CUDA_GPU_H_

#include <memory>
#include <string>

#include "runtime/cuda/error.h"
#include "runtime/program/program.h"

namespace yuba::cuda {

class Gpu {
 public:
  // Compiles the PTX of the program; Unavailable where it is for newer GPUs than this one.
  static absl::StatusOr<std::shared_ptr<const Gpu>> Open(int number,
                                                         const runtime::LoadedProgram& program);
  ~Gpu();
  Gpu(const Gpu&) = delete;

  int number() const { return number_; }
  // Makes it the calling thread's GPU.
  absl::Status Enter() const;

  // A generated kernel.
  absl::StatusOr<CUfunction> Find(const std::string& symbol) const;

  // Starts `function` on a thread for each of `elements` that finds room; parameters are pointers
  // to the parameters' values, as cuLaunchKernel takes them.
  absl::Status Launch(CUfunction function, int64_t elements, void** parameters,
                      cudaStream_t stream) const;
  // A job of job.h, in this GPU's memory.
  absl::Status LaunchJob(const int64_t* job, int64_t elements, cudaStream_t stream) const;

  CUfunction matrix_kernel() const { return matrix_; }  // kernels.cu

 private:
  explicit Gpu(int number) : number_(number) {}
  absl::Status Load(const runtime::LoadedProgram& program);
  absl::StatusOr<CUmodule> Compile(const std::string& ptx, const char* what) const;

  const int number_;
  int processors_ = 1;
  const Driver* driver_ = nullptr;
  CUmodule program_ = nullptr, own_ = nullptr;
  CUfunction job_ = nullptr, matrix_ = nullptr;
};

// PTX of kernels.cu; empty where nvcc was missing.
extern const char kOwnKernels[];

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_GPU_H_
