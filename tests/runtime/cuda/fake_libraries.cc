#ifdef YUBA_WITH_CUDA
// cuBLAS and NCCL on the fake GPUs.
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "runtime/cuda/libraries.h"
#include "tests/runtime/cuda/fake_cuda.h"
#include "tests/runtime/cuda/fake_streams.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
};
struct ncclComm {
  int gpu = 0;
};

namespace yuba::cuda {
namespace {

cublasStatus_t CreateHandle(cublasHandle_t* handle) {
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
cublasStatus_t Multiply(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op,
                        int64_t m, int64_t n, int64_t k, const float* alpha, const float* a,
                        int64_t lda, long long a_step, const float* b, int64_t ldb,
                        long long b_step, const float* beta, float* c, int64_t ldc,
                        long long c_step, int64_t batch) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  ++Fake().products;
  const float first = *alpha, second = *beta;
  Enqueue(handle->stream, [=] {
    for (int64_t i = 0; i < batch; ++i) {
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t column = 0; column < n; ++column) {
          float sum = 0;
          for (int64_t inner = 0; inner < k; ++inner) {
            sum +=
                a[i * a_step + (a_op == CUBLAS_OP_N ? row + inner * lda : inner + row * lda)] *
                b[i * b_step + (b_op == CUBLAS_OP_N ? inner + column * ldb : column + inner * ldb)];
          }
          float& result = c[i * c_step + row + column * ldc];
          result = first * sum + (second == 0 ? 0 : second * result);
        }
      }
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

struct Member {
  const void* from;
  void* to;
  size_t bytes;
  cudaStream_t stream;
};
std::vector<Member> group;  // between ncclGroupStart and ncclGroupEnd

ncclResult_t InitAll(ncclComm_t* communicators, int count, const int* gpus) {
  if (std::set<int>(gpus, gpus + count).size() != static_cast<size_t>(count))
    return ncclInvalidUsage;
  for (int i = 0; i < count; ++i) communicators[i] = new ncclComm{gpus[i]};
  return ncclSuccess;
}
ncclResult_t EndCommunicator(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}
ncclResult_t StartGroup() {
  group.clear();
  return ncclSuccess;
}
ncclResult_t AllGather(const void* from, void* to, size_t bytes, ncclDataType_t type,
                       ncclComm_t communicator, cudaStream_t stream) {
  if (type != ncclInt8 || communicator->gpu != stream->gpu) return ncclInvalidArgument;
  group.push_back({from, to, bytes, stream});
  return ncclSuccess;
}
// Each stream comes, copies from all members when all have come, and goes on when all have copied.
ncclResult_t EndGroup() {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  ++Fake().gathers;
  auto come = std::make_shared<size_t>(0);
  auto taken = std::make_shared<size_t>(0);
  const std::vector<Member> members = group;
  for (const Member& member : members) {
    Enqueue(member.stream, [=] { ++*come; });
    Enqueue(
        member.stream,
        [=] {
          for (size_t i = 0; i < members.size(); ++i) {
            std::memcpy(static_cast<char*>(member.to) + i * member.bytes, members[i].from,
                        member.bytes);
          }
          ++*taken;
        },
        [=] { return *come == members.size(); });
    Enqueue(member.stream, [] {}, [=] { return *taken == members.size(); });
  }
  return ncclSuccess;
}

}  // namespace

void FakeLibraries() {
  if (auto opened = Cublas::Open(); opened.ok()) {
    Cublas& cublas = *const_cast<Cublas*>(*opened);
    cublas.cublasCreate_v2 = CreateHandle;
    cublas.cublasDestroy_v2 = DestroyHandle;
    cublas.cublasSetStream_v2 = SetStream;
    cublas.cublasSgemmStridedBatched_64 = Multiply;
  }
  if (auto opened = Nccl::Open(); opened.ok()) {
    Nccl& nccl = *const_cast<Nccl*>(*opened);
    nccl.ncclCommInitAll = InitAll;
    nccl.ncclCommAbort = EndCommunicator;
    nccl.ncclGroupStart = StartGroup;
    nccl.ncclAllGather = AllGather;
    nccl.ncclGroupEnd = EndGroup;
  }
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
