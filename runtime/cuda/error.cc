#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/error.h"

namespace yuba::cuda {
namespace {

absl::Status Failed(absl::StatusCode code, const char* words, const char* call, const char* file,
                    int line) {
  int gpu = -1;
  cudaGetDevice(&gpu);
  return absl::Status(code, absl::StrCat("GPU ", gpu, ": ", words != nullptr ? words : "failed",
                                         " (", call, ", ", file, ":", line, ")"));
}

}  // namespace

absl::Status CallStatus(cudaError_t result, const char* call, const char* file, int line) {
  if (result == cudaSuccess) return absl::OkStatus();
  const bool memory = result == cudaErrorMemoryAllocation;
  return Failed(memory ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kInternal,
                cudaGetErrorString(result), call, file, line);
}

absl::Status CallStatus(CUresult result, const char* call, const char* file, int line) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* words = nullptr;
  const absl::StatusOr<const Driver*> driver = Driver::Open();
  if (driver.ok()) (*driver)->cuGetErrorString(result, &words);
  return Failed(absl::StatusCode::kInternal, words, call, file, line);
}

absl::Status CallStatus(cublasStatus_t result, const char* call, const char* file, int line) {
  if (result == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  const absl::StatusOr<const CublasLt*> cublas = CublasLt::Open();
  const bool lacking =
      result == CUBLAS_STATUS_NOT_SUPPORTED || result == CUBLAS_STATUS_ARCH_MISMATCH;
  return Failed(lacking ? absl::StatusCode::kUnimplemented : absl::StatusCode::kInternal,
                cublas.ok() ? (*cublas)->cublasLtGetStatusString(result) : nullptr, call, file,
                line);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
