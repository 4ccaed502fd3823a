// The libraries of a GPU machine: the driver through the static cudart, the others by dlopen, each
// when it is first asked for. Tables of pointers to their functions, by the functions' own names.
// For sources that are compiled where the CUDA toolkit is present.
#ifndef YUBA_RUNTIME_CUDA_LIBRARIES_H_
#define YUBA_RUNTIME_CUDA_LIBRARIES_H_

#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nccl.h>

#include <string>

#include "absl/status/statusor.h"

namespace yuba::cuda {

#define YUBA_DRIVER_FUNCTIONS(F) \
  F(cuModuleLoadDataEx)          \
  F(cuModuleUnload) F(cuModuleGetFunction) F(cuLaunchKernel) F(cuGetErrorString)
#define YUBA_CUBLAS_FUNCTIONS(F) \
  F(cublasGetProperty)           \
  F(cublasCreate_v2)             \
  F(cublasDestroy_v2) F(cublasSetStream_v2) F(cublasGetStatusString) F(cublasSgemmStridedBatched_64)
#define YUBA_CUDNN_FUNCTIONS(F) F(cudnnGetVersion) F(cudnnGetErrorString)
#define YUBA_NCCL_FUNCTIONS(F) \
  F(ncclGetVersion)            \
  F(ncclGetErrorString)        \
  F(ncclCommInitAll)           \
  F(ncclCommAbort) F(ncclCommDestroy) F(ncclGroupStart) F(ncclGroupEnd) F(ncclAllGather)

// Each is opened once for the process; a failure is remembered too.
#define YUBA_LIBRARY_MEMBER(name) decltype(&::name) name = nullptr;
struct Driver {
  YUBA_DRIVER_FUNCTIONS(YUBA_LIBRARY_MEMBER)
  static absl::StatusOr<const Driver*> Open();
};
struct Cublas {
  YUBA_CUBLAS_FUNCTIONS(YUBA_LIBRARY_MEMBER)
  std::string path;
  static absl::StatusOr<const Cublas*> Open();
};
struct Cudnn {
  YUBA_CUDNN_FUNCTIONS(YUBA_LIBRARY_MEMBER)
  std::string path;
  static absl::StatusOr<const Cudnn*> Open();
};
struct Nccl {
  YUBA_NCCL_FUNCTIONS(YUBA_LIBRARY_MEMBER)
  std::string path;
  static absl::StatusOr<const Nccl*> Open();
};
#undef YUBA_LIBRARY_MEMBER

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARIES_H_
