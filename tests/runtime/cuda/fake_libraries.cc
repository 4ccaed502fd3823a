#ifdef YUBA_WITH_CUDA
// cuBLAS and NCCL on the fake GPUs.
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include "opsemantics/base/half.h"
#include "runtime/cuda/libraries.h"
#include "runtime/cuda/strict_nccl.h"
#include "tests/runtime/cuda/fake_cuda.h"
#include "tests/runtime/cuda/fake_streams.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
};

namespace yuba::cuda {
namespace {

cublasStatus_t CreateHandle(cublasHandle_t* handle) {
  if (Fake().libraries_refuse) return CUBLAS_STATUS_NOT_SUPPORTED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t DestroyHandle(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t SetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t SetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }

float Load(const void* data, cudaDataType type, int64_t at) {
  if (type == CUDA_R_32F) return static_cast<const float*>(data)[at];
  const uint16_t bits = static_cast<const uint16_t*>(data)[at];
  return type == CUDA_R_16F ? FromF16(bits) : FromBF16(bits);
}
void Store(float value, void* data, cudaDataType type, int64_t at) {
  if (type == CUDA_R_32F)
    static_cast<float*>(data)[at] = value;
  else
    static_cast<uint16_t*>(data)[at] = type == CUDA_R_16F ? ToF16(value) : ToBF16(value);
}

cublasStatus_t Multiply(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op,
                        int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                        cudaDataType a_type, int64_t lda, long long a_step, const void* b,
                        cudaDataType b_type, int64_t ldb, long long b_step, const void* beta,
                        void* c, cudaDataType c_type, int64_t ldc, long long c_step, int64_t batch,
                        cublasComputeType_t compute, cublasGemmAlgo_t) {
  // The combinations that cuBLAS has.
  if (a_type != b_type || compute != CUBLAS_COMPUTE_32F ||
      (c_type != a_type && c_type != CUDA_R_32F))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  ++Fake().products;
  const float first = *static_cast<const float*>(alpha), second = *static_cast<const float*>(beta);
  Enqueue(handle->stream, [=] {
    for (int64_t i = 0; i < batch; ++i) {
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          float sum = 0;
          for (int64_t inner = 0; inner < k; ++inner) {
            const int64_t a_at = a_op == CUBLAS_OP_N ? row + inner * lda : inner + row * lda;
            const int64_t b_at = b_op == CUBLAS_OP_N ? inner + column * ldb : column + inner * ldb;
            sum += Load(a, a_type, i * a_step + a_at) * Load(b, b_type, i * b_step + b_at);
          }
          const int64_t c_at = i * c_step + row + column * ldc;
          Store(first * sum + (second == 0 ? 0 : second * Load(c, c_type, c_at)), c, c_type, c_at);
        }
      }
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

// NCCL is the strict one (strict_nccl.h), which counts, refuses two members on one GPU as the real
// one does, and may hang.
std::atomic<bool> aborted{false};

ncclResult_t InitAll(ncclComm_t* communicators, int count, const int* gpus) {
  if (std::set<int>(gpus, gpus + count).size() != static_cast<size_t>(count))
    return ncclInvalidUsage;
  aborted = false;
  ++Fake().communicators;
  return StrictNccl().ncclCommInitAll(communicators, count, gpus);
}
ncclResult_t AbortCommunicator(ncclComm_t communicator) {
  aborted = true;
  ++Fake().aborts;
  return StrictNccl().ncclCommAbort(communicator);
}
ncclResult_t EndGroup() {
  const bool for_ever = Fake().nccl == FakeCuda::kBlocksForEver;
  const bool until_abort = Fake().nccl == FakeCuda::kBlocksUntilAbort;
  while (for_ever || (until_abort && !aborted)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (until_abort) {
    return ncclInternalError;
  }
  ++Fake().gathers;
  return StrictNccl().ncclGroupEnd();
}
ncclResult_t AsyncError(ncclComm_t, ncclResult_t* state) {
  *state = Fake().nccl == FakeCuda::kFailsLater ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

}  // namespace

void FakeLibraries() {
  if (auto opened = Cublas::Open(); opened.ok()) {
    Cublas& cublas = *const_cast<Cublas*>(*opened);
    cublas.cublasCreate_v2 = CreateHandle;
    cublas.cublasDestroy_v2 = DestroyHandle;
    cublas.cublasSetStream_v2 = SetStream;
    cublas.cublasSetMathMode = SetMathMode;
    cublas.cublasGemmStridedBatchedEx_64 = Multiply;
  }
  if (auto opened = Nccl::Open(); opened.ok()) {
    Nccl& nccl = *const_cast<Nccl*>(*opened);
    const std::string path = nccl.path;
    nccl = StrictNccl();
    nccl.path = path;
    nccl.may_share_gpus = false;
    nccl.ncclCommInitAll = InitAll;
    nccl.ncclCommAbort = AbortCommunicator;
    nccl.ncclCommGetAsyncError = AsyncError;
    nccl.ncclGroupEnd = EndGroup;
  }
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
