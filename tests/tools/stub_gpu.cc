#ifdef YUBA_WITH_CUDA
// The functions of cudart, the driver, cuBLAS and NCCL that the scripts of tools/gpu call, with the
// signatures of their headers, on a GPU that is this processor's memory; and those that a program
// looks for in NCCL and, in stub_names.cc, in cuBLASLt and cuDNN, which yuba-run-on-fakes has
// itself. One library with all of them: a test links libcudart.so.13 and the others' names to it.
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

// What was allocated, by address.
std::map<const char*, size_t>& Memory() {
  static auto* const memory = new std::map<const char*, size_t>;
  return *memory;
}

// Whether so many bytes from here are of one allocation.
bool Holds(const void* data, size_t bytes) {
  const char* const at = static_cast<const char*>(data);
  auto next = Memory().upper_bound(at);
  if (next == Memory().begin()) return false;
  --next;
  return at + bytes <= next->first + next->second;
}

}  // namespace

struct CUmod_st {};
struct CUfunc_st {};
struct cublasContext {};
struct ncclComm {};

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = std::malloc(bytes);
  Memory()[static_cast<char*>(*memory)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  if (memory != nullptr && Memory().erase(static_cast<char*>(memory)) == 0)
    return cudaErrorInvalidValue;
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  if (!Holds(memory, bytes)) return cudaErrorInvalidValue;
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const bool from_gpu = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool to_gpu = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if (Holds(from, bytes) != from_gpu || Holds(to, bytes) != to_gpu) return cudaErrorInvalidValue;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  static CUmod_st only;
  *module = &only;
  const std::string ptx = static_cast<const char*>(image);
  return ptx.find(".entry empty()") != std::string::npos ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  static CUfunc_st only;
  *function = &only;
  return std::string(name) == "empty" ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuLaunchKernel(CUfunction, unsigned x, unsigned y, unsigned z, unsigned, unsigned,
                        unsigned, unsigned, CUstream, void** parameters, void**) {
  return x * y * z == 1 && parameters == nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                            int k, const void* alpha, const void* a, cudaDataType a_type, int lda,
                            const void* b, cudaDataType b_type, int ldb, const void* beta, void* c,
                            cudaDataType c_type, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t) {
  const size_t bytes = a_type == CUDA_R_32F ? 4 : a_type == CUDA_R_16BF ? 2 : 0;
  const bool numbers =
      *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0;
  const bool fits =
      Holds(a, bytes * lda * k) && Holds(b, bytes * ldb * n) && Holds(c, bytes * ldc * n);
  const bool types = bytes > 0 && b_type == a_type && c_type == a_type;
  if (!numbers || !fits || !types || m > ldc || compute != CUBLAS_COMPUTE_32F)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memset(c, 0, bytes * ldc * n);
  return CUBLAS_STATUS_SUCCESS;
}

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "a stub"; }
ncclResult_t ncclCommAbort(ncclComm_t) { return ncclSuccess; }
ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() { return ncclSuccess; }
ncclResult_t ncclCommInitAll(ncclComm_t* communicator, int count, const int* gpus) {
  *communicator = new ncclComm;
  return count == 1 && gpus[0] == 0 ? ncclSuccess : ncclInvalidArgument;
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t, cudaStream_t) {
  if (type != ncclInt8 || !Holds(from, count) || !Holds(to, count)) return ncclInvalidArgument;
  // YUBA_STUB_FAULT: the last byte does not arrive.
  std::memcpy(to, from, count - (std::getenv("YUBA_STUB_FAULT") != nullptr ? 1 : 0));
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* state) {
  *state = ncclSuccess;
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

}  // extern "C"

#endif  // YUBA_WITH_CUDA
