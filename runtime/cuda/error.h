// Failed calls of the CUDA libraries as statuses. The message has the library's words, the text of
// the call, file and line, and the calling thread's GPU. ResourceExhausted where the GPU's memory
// is full, Unavailable where a library cannot be used with this driver, Unimplemented where it does
// not have what is asked for, else Internal.
#ifndef YUBA_RUNTIME_CUDA_ERROR_H_
#define YUBA_RUNTIME_CUDA_ERROR_H_

#include "opsemantics/base/status.h"
#include "runtime/cuda/libraries.h"

namespace yuba::cuda {

absl::Status CallStatus(cudaError_t result, const char* call, const char* file, int line);
absl::Status CallStatus(CUresult result, const char* call, const char* file, int line);
absl::Status CallStatus(cublasStatus_t result, const char* call, const char* file, int line);
absl::Status CallStatus(cudnnStatus_t result, const char* call, const char* file, int line);

}  // namespace yuba::cuda

// Returns from the calling function with the error of `call`, which gives a result of one of these
// types.
#define YUBA_CUDA(call) \
  YUBA_RETURN_IF_ERROR(::yuba::cuda::CallStatus((call), #call, __FILE__, __LINE__))

#endif  // YUBA_RUNTIME_CUDA_ERROR_H_
