// The libraries of a GPU machine as tables of pointers to their functions, under the functions' own
// names. The driver is reached through the static cudart, the others by dlopen, each when it is
// first asked for. Only for sources that are compiled where the CUDA toolkit is present
// (YUBA_WITH_CUDA).
#ifndef YUBA_RUNTIME_CUDA_LIBRARIES_H_
#define YUBA_RUNTIME_CUDA_LIBRARIES_H_

#include <cublasLt.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nccl.h>

#include <string>

#include "absl/status/statusor.h"

namespace yuba::cuda {

// clang-format off
#define YUBA_DRIVER_FUNCTIONS(F) \
  F(cuModuleLoadDataEx)          \
  F(cuModuleUnload)              \
  F(cuModuleGetFunction)         \
  F(cuLaunchKernel)              \
  F(cuStreamWriteValue64)        \
  F(cuGetErrorString)
#define YUBA_CUBLAS_LT_FUNCTIONS(F)        \
  F(cublasLtGetProperty)                   \
  F(cublasLtGetStatusString)               \
  F(cublasLtCreate)                        \
  F(cublasLtDestroy)                       \
  F(cublasLtMatmulDescCreate)              \
  F(cublasLtMatmulDescDestroy)             \
  F(cublasLtMatmulDescSetAttribute)        \
  F(cublasLtMatrixLayoutCreate)            \
  F(cublasLtMatrixLayoutDestroy)           \
  F(cublasLtMatrixLayoutSetAttribute)      \
  F(cublasLtMatmulPreferenceCreate)        \
  F(cublasLtMatmulPreferenceDestroy)       \
  F(cublasLtMatmulPreferenceSetAttribute)  \
  F(cublasLtMatmulAlgoGetHeuristic)        \
  F(cublasLtMatmulAlgoCheck)               \
  F(cublasLtMatmulAlgoConfigGetAttribute)  \
  F(cublasLtMatmul)
#define YUBA_CUDNN_FUNCTIONS(F)      \
  F(cudnnGetVersion)                 \
  F(cudnnGetErrorString)             \
  F(cudnnGetLastErrorString)         \
  F(cudnnCreate)                     \
  F(cudnnDestroy)                    \
  F(cudnnSetStream)                  \
  F(cudnnBackendCreateDescriptor)    \
  F(cudnnBackendDestroyDescriptor)   \
  F(cudnnBackendSetAttribute)        \
  F(cudnnBackendGetAttribute)        \
  F(cudnnBackendFinalize)            \
  F(cudnnBackendExecute)
#define YUBA_NCCL_FUNCTIONS(F) \
  F(ncclGetVersion)            \
  F(ncclGetErrorString)        \
  F(ncclGetLastError)          \
  F(ncclGetUniqueId)           \
  F(ncclCommInitRankConfig)    \
  F(ncclCommSplit)             \
  F(ncclCommFinalize)          \
  F(ncclCommDestroy)           \
  F(ncclCommGetAsyncError)     \
  F(ncclCommAbort)             \
  F(ncclGroupStart)            \
  F(ncclGroupEnd)              \
  F(ncclAllGather)             \
  F(ncclReduceScatter)         \
  F(ncclAllReduce)             \
  F(ncclSend)                  \
  F(ncclRecv)
// clang-format on

// Open() opens a library once for the process, from any thread, and never closes it. Unavailable
// where it or one of the functions is missing, also for all later calls. `path` is its file.
#define YUBA_LIBRARY_MEMBER(name) decltype(&::name) name = nullptr;
struct Driver {
  YUBA_DRIVER_FUNCTIONS(YUBA_LIBRARY_MEMBER)
  static absl::StatusOr<const Driver*> Open();
};
struct CublasLt {
  YUBA_CUBLAS_LT_FUNCTIONS(YUBA_LIBRARY_MEMBER)
  std::string path;
  static absl::StatusOr<const CublasLt*> Open();
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
