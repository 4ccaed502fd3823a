#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_cuda.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "runtime/cuda/job.h"
#include "runtime/cuda/libraries.h"

struct CUevent_st {
  int gpu = 0;
  int64_t recorded = 0, done = 0;
};
struct CUfunc_st {
  std::string name;
};
struct CUmod_st {
  std::vector<std::unique_ptr<CUfunc_st>> functions;
};

namespace {

struct Work {
  std::function<bool()> ready;
  std::function<void()> run;
};

}  // namespace

struct CUstream_st {
  int gpu = 0;
  std::deque<Work> queue;
};
struct cublasContext {
  cudaStream_t stream = nullptr;
};
struct ncclComm {
  int gpu = 0;
};

namespace yuba::test {
namespace {

struct State {
  std::mutex mutex;
  std::mt19937_64 random{1};
  std::set<cudaStream_t> streams;
  std::map<void*, std::pair<int, int64_t>> memory;  // its GPU and size
  std::map<int, int64_t> used;                      // bytes by GPU
};
State& Gpus() {
  static State* state = new State;
  return *state;
}
thread_local int current = 0;

bool Fails(const char* function) {
  if (Fake().fail != function) return false;
  Fake().fail.clear();
  return true;
}

// Under the lock.
cudaError_t Enqueue(
    cudaStream_t stream, std::function<void()> run,
    std::function<bool()> ready = [] { return true; }) {
  if (stream == nullptr || Gpus().streams.count(stream) == 0) return cudaErrorInvalidResourceHandle;
  stream->queue.push_back({std::move(ready), std::move(run)});
  return cudaSuccess;
}

// Does work of any stream until `stream` has none.
cudaError_t Drain(cudaStream_t stream) {
  State& gpus = Gpus();
  gpus.random.seed(gpus.random() + Fake().seed);
  while (!stream->queue.empty()) {
    std::vector<cudaStream_t> ready;
    for (cudaStream_t candidate : gpus.streams) {
      if (!candidate->queue.empty() && candidate->queue.front().ready()) ready.push_back(candidate);
    }
    if (ready.empty()) return cudaErrorLaunchTimeout;  // the streams wait for each other
    cudaStream_t chosen = ready[gpus.random() % ready.size()];
    const Work work = std::move(chosen->queue.front());
    chosen->queue.pop_front();
    work.run();
  }
  return cudaSuccess;
}

// y = 2 x + 1, the kernel of backend_test.
void TwicePlusOne(void* const* buffers, const int64_t* arguments, int64_t thread, int64_t threads) {
  const float* x = static_cast<const float*>(buffers[0]);
  float* y = static_cast<float*>(buffers[1]);
  for (int64_t i = arguments[0] + thread; i < arguments[1]; i += threads) {
    y[i - arguments[4]] = 2 * x[i - arguments[2]] + 1;
  }
}

template <typename T>
T Parameter(void** parameters, int index) {
  return *static_cast<T*>(parameters[index]);
}

// The kernel with its parameters, by thread.
std::function<void(int64_t, int64_t)> KernelOf(const std::string& name, void** parameters) {
  if (name == "yuba_job") {
    const auto* job = Parameter<const int64_t*>(parameters, 0);
    return [=](int64_t thread, int64_t threads) { RunJob(job, thread, threads); };
  }
  if (name == "yuba_matrix") {
    const auto* from = Parameter<const float*>(parameters, 0);
    auto* to = Parameter<float*>(parameters, 3);
    int64_t numbers[8];
    for (int i : {1, 2, 4, 5, 6, 7}) numbers[i] = Parameter<int64_t>(parameters, i);
    const int64_t from_row = numbers[1], from_column = numbers[2], to_row = numbers[4],
                  to_column = numbers[5], rows = numbers[6], columns = numbers[7];
    return [=](int64_t thread, int64_t threads) {
      for (int64_t i = thread; i < rows * columns; i += threads) {
        const int64_t row = i / columns, column = i % columns;
        to[row * to_row + column * to_column] = from[row * from_row + column * from_column];
      }
    };
  }
  const auto* buffers = Parameter<void* const*>(parameters, 0);
  const auto* arguments = Parameter<const int64_t*>(parameters, 1);
  return
      [=](int64_t thread, int64_t threads) { TwicePlusOne(buffers, arguments, thread, threads); };
}

// ---- the driver ----

CUresult LoadModule(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  if (Fails("cuModuleLoadDataEx")) return CUDA_ERROR_INVALID_PTX;
  ++Fake().modules;
  *module = new CUmod_st;
  return CUDA_SUCCESS;
}
CUresult UnloadModule(CUmodule module) {
  --Fake().modules;
  delete module;
  return CUDA_SUCCESS;
}
CUresult FindFunction(CUfunction* function, CUmodule module, const char* name) {
  if (std::string(name).find("missing") == 0) return CUDA_ERROR_NOT_FOUND;
  module->functions.push_back(std::make_unique<CUfunc_st>());
  *function = module->functions.back().get();
  (*function)->name = name;
  return CUDA_SUCCESS;
}
CUresult Launch(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned block, unsigned,
                unsigned, unsigned, CUstream stream, void** parameters, void**) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cuLaunchKernel") || blocks == 0) return CUDA_ERROR_INVALID_VALUE;
  if (stream->gpu != current) return CUDA_ERROR_INVALID_CONTEXT;
  ++Fake().kernels;
  const auto kernel = KernelOf(function->name, parameters);
  const int64_t threads = int64_t{blocks} * block;
  Enqueue(stream, [=] {
    for (int64_t thread = 0; thread < threads; ++thread) kernel(thread, threads);
  });
  return CUDA_SUCCESS;
}
CUresult ErrorString(CUresult, const char** words) {
  *words = "the fake driver says no";
  return CUDA_SUCCESS;
}

// ---- cuBLAS and NCCL ----

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
// Each stream comes, takes all pieces when all have come, and goes on when all have taken.
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
    Enqueue(
        member.stream, [] {}, [=] { return *taken == members.size(); });
  }
  return ncclSuccess;
}

}  // namespace

FakeCuda& Fake() {
  static FakeCuda* fake = new FakeCuda;
  return *fake;
}

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

}  // namespace yuba::test

// ---- cudart ----

using yuba::test::current;
using yuba::test::Drain;
using yuba::test::Enqueue;
using yuba::test::Fails;
using yuba::test::Fake;
using yuba::test::Gpus;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (Fake().gpus == 0) return cudaErrorInsufficientDriver;  // and `count` stays as it is
  *count = Fake().gpus;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = Fake().gpus == 0 ? 0 : 13000;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int gpu) {
  std::strcpy(properties->name, "fake GPU");
  properties->totalGlobalMem = Fake().memory;
  properties->major = Fake().sm / 10;
  properties->minor = Fake().sm % 10;
  properties->multiProcessorCount = 1;
  return gpu < Fake().gpus ? cudaSuccess : cudaErrorInvalidDevice;
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "the fake GPU says no";
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaGetDevice(int* gpu) {
  *gpu = current;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int gpu) {
  if (gpu < 0 || gpu >= Fake().gpus) return cudaErrorInvalidDevice;
  current = gpu;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = Fake().peers;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaErrorPeerAccessAlreadyEnabled; }

cudaError_t cudaMalloc(void** data, size_t bytes) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  int64_t& used = Gpus().used[current];
  if (used + static_cast<int64_t>(bytes) > Fake().memory) return cudaErrorMemoryAllocation;
  *data = std::malloc(bytes);
  std::memset(*data, 0x7f, bytes);
  Gpus().memory[*data] = {current, static_cast<int64_t>(bytes)};
  used += static_cast<int64_t>(bytes);
  ++Fake().allocations;
  return cudaSuccess;
}
cudaError_t cudaFree(void* data) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (data == nullptr) return cudaSuccess;
  const auto found = Gpus().memory.find(data);
  if (found == Gpus().memory.end()) return cudaErrorInvalidValue;
  Gpus().used[found->second.first] -= found->second.second;
  Gpus().memory.erase(found);
  --Fake().allocations;
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  *stream = new CUstream_st;
  (*stream)->gpu = current;
  Gpus().streams.insert(*stream);
  ++Fake().streams;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cudaStreamSynchronize")) return cudaErrorIllegalAddress;
  return Drain(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  Gpus().streams.erase(stream);
  delete stream;
  --Fake().streams;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  return Enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  return Enqueue(stream, [=] { std::memset(data, value, bytes); });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cudaMemcpy2DAsync") || to_pitch < width || from_pitch < width) {
    return cudaErrorInvalidPitchValue;
  }
  ++Fake().row_copies;
  return Enqueue(stream, [=] {
    for (size_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<char*>(to) + row * to_pitch,
                  static_cast<const char*>(from) + row * from_pitch, width);
    }
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  (*event)->gpu = current;
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  ++Fake().events;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  --Fake().events;
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (event->gpu != stream->gpu) return cudaErrorInvalidResourceHandle;
  const int64_t number = ++event->recorded;
  return Enqueue(stream, [=] { event->done = number; });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fake().forget_waits) return cudaSuccess;
  const int64_t number = event->recorded;
  return Enqueue(
      stream, [] {}, [=] { return event->done >= number; });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  const std::map<std::string, void*> functions = {
      {"cuModuleLoadDataEx", reinterpret_cast<void*>(yuba::test::LoadModule)},
      {"cuModuleUnload", reinterpret_cast<void*>(yuba::test::UnloadModule)},
      {"cuModuleGetFunction", reinterpret_cast<void*>(yuba::test::FindFunction)},
      {"cuLaunchKernel", reinterpret_cast<void*>(yuba::test::Launch)},
      {"cuGetErrorString", reinterpret_cast<void*>(yuba::test::ErrorString)}};
  *function = functions.at(symbol);
  *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

}  // extern "C"

#endif  // YUBA_WITH_CUDA
