#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/error.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace yuba::cuda {
namespace {

constexpr size_t kWordsBytes = 512;

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
  const absl::StatusCode code =
      lacking ? absl::StatusCode::kUnimplemented
      // Only from making a handle: driver and library do not fit.
      : result == CUBLAS_STATUS_NOT_INITIALIZED ? absl::StatusCode::kUnavailable
      : result == CUBLAS_STATUS_ALLOC_FAILED    ? absl::StatusCode::kResourceExhausted
                                                : absl::StatusCode::kInternal;
  return Failed(code, cublas.ok() ? (*cublas)->cublasLtGetStatusString(result) : nullptr, call,
                file, line);
}

absl::Status CallStatus(cudnnStatus_t result, const char* call, const char* file, int line) {
  if (result == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  // Statuses are by category: 1001 to 1999 that the library or a part of it cannot be used, from
  // 2000 on that it finds fault with what is described, from 3000 on that it does not have it. It
  // says the second of what it merely does not have too.
  const int category = static_cast<int>(result) / 1000;
  const bool memory = result == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
                      result == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  const absl::StatusCode code = memory          ? absl::StatusCode::kResourceExhausted
                                : category == 1 ? absl::StatusCode::kUnavailable
                                : category == 2 || category == 3 ? absl::StatusCode::kUnimplemented
                                                                 : absl::StatusCode::kInternal;
  const absl::StatusOr<const Cudnn*> cudnn = Cudnn::Open();
  std::string words;
  if (cudnn.ok()) {
    char last[kWordsBytes] = {};
    (*cudnn)->cudnnGetLastErrorString(last, sizeof last);
    words = absl::StrCat((*cudnn)->cudnnGetErrorString(result), " ", last);
  }
  return Failed(code, words.c_str(), call, file, line);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
