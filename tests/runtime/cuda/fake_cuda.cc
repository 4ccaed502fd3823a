#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_cuda.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "opsemantics/base/check.h"
#include "tests/runtime/cuda/fake_streams.h"

struct CUevent_st {
  int gpu = 0;
  std::shared_ptr<yuba::cuda::Capture> capture;  // that it was last recorded in, or null
  std::set<size_t> after;                        // the nodes there that it comes after
  int64_t recorded = 0;
  std::shared_ptr<double> time = std::make_shared<double>(0);  // when it was reached, microseconds
  // How many of these have been reached; streams that wait for it may outlive the event.
  std::shared_ptr<int64_t> done = std::make_shared<int64_t>(0);
};

struct CUgraph_st {
  std::vector<yuba::cuda::Node> nodes;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<yuba::cuda::Node>> nodes;
};

namespace yuba::cuda {
namespace {

// Whether the calling thread captures a stream. The caller holds the machine's mutex.
bool IsCapturing() {
  return std::any_of(Gpus().streams.begin(), Gpus().streams.end(), [](cudaStream_t stream) {
    return stream->capture != nullptr && stream->capture->thread == std::this_thread::get_id();
  });
}

// A stream that waits for an event of a capture takes part in it.
cudaError_t JoinCapture(CUstream_st& stream, const CUevent_st& event) {
  if (event.capture == nullptr || event.capture->streams.empty())
    return cudaErrorStreamCaptureIsolation;
  if (stream.capture == nullptr) stream.capture = event.capture;
  if (stream.capture != event.capture) return cudaErrorStreamCaptureMerge;
  if (stream.capture->invalid) return cudaErrorStreamCaptureInvalidated;
  stream.capture->streams.insert(&stream);
  stream.last.insert(event.after.begin(), event.after.end());
  return cudaSuccess;
}

}  // namespace

FakeCuda& Fake() {
  static FakeCuda* fake = new FakeCuda;
  return *fake;
}

}  // namespace yuba::cuda

// ---- cudart ----

using yuba::cuda::AllocatePages;
using yuba::cuda::Capture;
using yuba::cuda::current;
using yuba::cuda::Drain;
using yuba::cuda::Enqueue;
using yuba::cuda::EnqueueKernel;
using yuba::cuda::Fails;
using yuba::cuda::Fake;
using yuba::cuda::FreePages;
using yuba::cuda::Gpus;
using yuba::cuda::IsCapturing;
using yuba::cuda::JoinCapture;
using yuba::cuda::LeaveAlone;
using yuba::cuda::Node;
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
  std::memset(properties->uuid.bytes, Fake().one_uuid ? 1 : 1 + gpu, sizeof properties->uuid.bytes);
  properties->l2CacheSize = Fake().cache_bytes;
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
cudaError_t cudaMalloc(void** data, size_t bytes) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  int64_t& used = Gpus().used[current];
  if (IsCapturing()) return cudaErrorStreamCaptureUnsupported;
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
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  *data = std::malloc(bytes);
  ++Fake().allocations;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
  if (data == nullptr) return cudaSuccess;
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  --Fake().allocations;
  std::free(data);
  return cudaSuccess;
}
// No stream of ours waits for it: its bytes may arrive at any time, here never.
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind) { return cudaSuccess; }

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

// Fakes choose among what may go on next, whatever its priority.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
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
  ++Fake().waits;
  if (const cudaError_t error = LeaveAlone(stream); error != cudaSuccess) return error;
  const cudaError_t state = Drain(stream);
  YUBA_CHECK(state != cudaErrorNotReady) << "waits for ever for a stream that hangs";
  return state;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  ++Fake().waits;
  if (Fails("cudaStreamQuery")) return cudaErrorUnknown;
  if (const cudaError_t error = LeaveAlone(stream); error != cudaSuccess) return error;
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
  if (const cudaError_t error = LeaveAlone(stream); error != cudaSuccess) return error;
  const std::string staged(static_cast<const char*>(from), bytes);
  return Enqueue(stream, [=] { std::memcpy(to, staged.data(), staged.size()); });
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
  event->capture = stream->capture;
  event->after = stream->last;
  if (stream->capture != nullptr)
    return stream->capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
  const int64_t number = ++event->recorded;
  return Enqueue(stream, [number, done = event->done, time = event->time] {
    *done = number;
    *time = Gpus().microseconds;
  });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (*start->done != start->recorded || *end->done != end->recorded) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(1e-3 * (*end->time - *start->time));
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fake().forget_waits) return cudaSuccess;
  if (event->capture != nullptr || stream->capture != nullptr) return JoinCapture(*stream, *event);
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

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cudaStreamBeginCapture") || stream->capture != nullptr) return cudaErrorIllegalState;
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->thread = std::this_thread::get_id();
  stream->capture->streams = {stream};
  stream->last.clear();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr || capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
  const bool joined = yuba::cuda::AllBefore(*capture, stream->last);
  for (cudaStream_t member : capture->streams) {
    member->capture = nullptr;
    member->last.clear();
  }
  if (Fails("cudaStreamEndCapture") || capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (!joined) return cudaErrorStreamCaptureUnjoined;
  *graph = new CUgraph_st{capture->nodes};
  ++Fake().graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cudaGraphInstantiate")) return cudaErrorMemoryAllocation;
  *made = new CUgraphExec_st{std::make_shared<std::vector<Node>>(graph->nodes)};
  ++Fake().graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  --Fake().graphs;
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  --Fake().graphs;
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  if (Fails("cudaGraphLaunch")) return cudaErrorInvalidValue;
  if (const cudaError_t error = LeaveAlone(stream); error != cudaSuccess) return error;
  ++Fake().replays;
  return yuba::cuda::StartNodes(graph->nodes, stream);
}

}  // extern "C"

#endif  // YUBA_WITH_CUDA
