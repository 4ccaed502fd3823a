#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "opsemantics/base/check.h"
#include "tests/runtime/cuda/fake_streams.h"

struct CUevent_st {
  int gpu = 0;
  int64_t recorded = 0;
  // How many of these have been reached; streams that wait for it may outlive the event.
  std::shared_ptr<int64_t> done = std::make_shared<int64_t>(0);
};

namespace yuba::cuda {

FakeCuda& Fake() {
  static FakeCuda* fake = new FakeCuda;
  return *fake;
}

}  // namespace yuba::cuda

// ---- cudart ----

using yuba::cuda::AllocatePages;
using yuba::cuda::current;
using yuba::cuda::Drain;
using yuba::cuda::Enqueue;
using yuba::cuda::EnqueueKernel;
using yuba::cuda::Fails;
using yuba::cuda::Fake;
using yuba::cuda::FreePages;
using yuba::cuda::Gpus;
using yuba::cuda::StateOf;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (Fake().gpus == 0 || Fake().driver < CUDART_VERSION)
    return cudaErrorInsufficientDriver;  // and `count` stays as it is
  *count = Fake().gpus;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = Fake().gpus == 0 ? 0 : Fake().driver;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int gpu) {
  std::strcpy(properties->name, "fake GPU");
  properties->totalGlobalMem = Fake().memory;
  const int sm = gpu == 0 || Fake().other_sm == 0 ? Fake().sm : Fake().other_sm;
  properties->major = sm / 10;
  properties->minor = sm % 10;
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
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return Fake().peers ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessUnsupported;
}

cudaError_t cudaMalloc(void** data, size_t bytes) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  int64_t& used = Gpus().used[current];
  if (Fails("cudaMalloc") || used + static_cast<int64_t>(bytes) > Fake().memory)
    return cudaErrorMemoryAllocation;
  Fake().most_allocated = std::max(Fake().most_allocated, static_cast<int64_t>(bytes));
  if (StateOf(current) != cudaSuccess) return StateOf(current);
  *data = AllocatePages(bytes);
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
  const int64_t bytes = found->second.second;
  Gpus().used[found->second.first] -= bytes;
  Gpus().memory.erase(found);
  --Fake().allocations;
  FreePages(data, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  *free = Fake().memory - Gpus().used[current];
  *total = Fake().memory;
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) {
  *data = std::malloc(bytes);
  ++Fake().allocations;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
  if (data == nullptr) return cudaSuccess;
  --Fake().allocations;
  std::free(data);
  return cudaSuccess;
}
// No stream of ours waits for it: its bytes may arrive at any time, here never.
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind) { return cudaSuccess; }

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
  const cudaError_t state = Drain(stream);
  YUBA_CHECK(state != cudaErrorNotReady) << "waits for ever for a stream that hangs";
  return state;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cudaStreamQuery")) return cudaErrorUnknown;
  return Drain(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  Gpus().streams.erase(stream);
  delete stream;
  --Fake().streams;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cudaMemcpyAsync")) return cudaErrorInvalidValue;
  Fake().copies += kind == cudaMemcpyDefault;
  if (kind != cudaMemcpyHostToDevice) return Enqueue(stream, [=] { std::memcpy(to, from, bytes); });
  // The host's memory is read at once, into a buffer of the driver.
  const std::string staged(static_cast<const char*>(from), bytes);
  return Enqueue(stream, [=] { std::memcpy(to, staged.data(), staged.size()); });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes,
                                cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  ++Fake().peer_copies;
  return Enqueue(stream, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  return Enqueue(stream, [=] { std::memset(data, value, bytes); });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  const auto most = static_cast<size_t>(Fake().most_pitch);
  if (Fails("cudaMemcpy2DAsync") || to_pitch < width || from_pitch < width || to_pitch > most ||
      from_pitch > most) {
    return cudaErrorInvalidPitchValue;
  }
  ++Fake().copies;
  return EnqueueKernel(stream, [=] {
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
  return Enqueue(stream, [number, done = event->done] { *done = number; });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fake().forget_waits) return cudaSuccess;
  const int64_t number = event->recorded;
  return Enqueue(stream, [] {}, [number, done = event->done] { return *done >= number; });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* found) {
  *function = yuba::cuda::DriverFunction(symbol);
  *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

}  // extern "C"

#endif  // YUBA_WITH_CUDA
