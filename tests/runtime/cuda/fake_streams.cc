#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_streams.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/runtime/cuda/fake_cuda.h"

namespace yuba::cuda {

FakeMachine& Gpus() {
  static FakeMachine* machine = new FakeMachine;
  return *machine;
}
thread_local int current = 0;

bool Fails(const char* function) {
  if (Fake().fail != function) return false;
  Fake().fail.clear();
  return true;
}

cudaError_t Enqueue(cudaStream_t stream, std::function<void()> run, std::function<bool()> ready,
                    bool from_outside) {
  if (stream == nullptr || Gpus().streams.count(stream) == 0) return cudaErrorInvalidResourceHandle;
  if (StateOf(stream->gpu) != cudaSuccess) return StateOf(stream->gpu);
  if (stream->capture == nullptr) {
    stream->queue.push_back({std::move(ready), std::move(run), from_outside});
    return cudaSuccess;
  }
  if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
  std::vector<Node>& nodes = stream->capture->nodes;
  nodes.push_back(
      {stream, stream->gpu, std::move(run), stream->last, std::move(ready), from_outside});
  stream->last = {nodes.size() - 1};
  return cudaSuccess;
}

cudaError_t LeaveAlone(cudaStream_t stream) {
  if (stream->capture == nullptr) return cudaSuccess;
  stream->capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

bool AllBefore(const Capture& capture, const std::set<size_t>& last) {
  std::set<size_t> before, open = last;
  while (!open.empty()) {
    const size_t node = *open.begin();
    open.erase(open.begin());
    if (!before.insert(node).second) continue;
    open.insert(capture.nodes[node].after.begin(), capture.nodes[node].after.end());
  }
  return before.size() == capture.nodes.size();
}

cudaError_t StartNodes(const std::shared_ptr<const std::vector<Node>>& nodes, cudaStream_t stream) {
  struct Run {
    bool started = false;
    std::vector<bool> done;
    size_t left = 0;
    std::map<cudaStream_t, cudaStream_t> lanes;  // by the stream of the capture
  };
  const auto run = std::make_shared<Run>();
  run->done.resize(nodes->size());
  run->left = nodes->size();
  for (size_t n = 0; n < nodes->size(); ++n) {
    const Node& node = (*nodes)[n];
    cudaStream_t& lane = run->lanes[node.stream];
    if (lane == nullptr) {
      lane = new CUstream_st;
      lane->gpu = node.gpu;
      Gpus().streams.insert(lane);
    }
    lane->queue.push_back({[run, nodes, n] {
                             const std::set<size_t>& after = (*nodes)[n].after;
                             return run->started &&
                                    std::all_of(after.begin(), after.end(),
                                                [&](size_t before) { return run->done[before]; }) &&
                                    (*nodes)[n].ready();
                           },
                           [run, nodes, n] {
                             (*nodes)[n].run();
                             run->done[n] = true;
                             --run->left;
                           },
                           node.from_outside});
  }
  const cudaError_t state = Enqueue(stream, [run] { run->started = true; });
  if (state != cudaSuccess) return state;
  return Enqueue(
      stream,
      [run] {
        for (const auto& [captured, lane] : run->lanes) {
          Gpus().streams.erase(lane);
          delete lane;
        }
      },
      [run] { return run->left == 0; });
}

cudaError_t StateOf(int gpu) {
  return Gpus().broken.count(gpu) == 0 ? cudaSuccess : cudaErrorIllegalAddress;
}

void ForgetStreams() {
  std::lock_guard<std::mutex> lock(Gpus().mutex);
  Gpus().streams.clear();
  Gpus().broken.clear();
  Gpus().used.clear();
}

void* AllocatePages(size_t bytes) {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(pages, 0x7f, bytes);
  mprotect(pages, bytes, PROT_NONE);
  return pages;
}

void FreePages(void* data, size_t bytes) { munmap(data, bytes); }

namespace {

// Of all GPUs but `except`.
void Protect(int protection, int except) {
  for (const auto& [data, gpu_and_bytes] : Gpus().memory) {
    if (gpu_and_bytes.first != except) mprotect(data, gpu_and_bytes.second, protection);
  }
}

// While it lives, the GPUs' memory can be touched.
class Touching {
 public:
  Touching() { Protect(PROT_READ | PROT_WRITE, -1); }
  ~Touching() { Protect(PROT_NONE, -1); }
};

}  // namespace

cudaError_t EnqueueKernel(cudaStream_t stream, std::function<void()> run) {
  const int gpu = stream->gpu;
  return Enqueue(stream, [gpu, run = std::move(run)] {
    Protect(PROT_NONE, gpu);
    run();
    Protect(PROT_READ | PROT_WRITE, gpu);
  });
}

cudaError_t Drain(cudaStream_t stream) {
  FakeMachine& gpus = Gpus();
  const Touching touching;
  gpus.random.seed(gpus.random() + Fake().seed);
  while (!stream->queue.empty()) {
    if (StateOf(stream->gpu) != cudaSuccess) return StateOf(stream->gpu);
    std::vector<cudaStream_t> ready;
    bool hangs = false;
    for (cudaStream_t candidate : gpus.streams) {
      if (candidate->queue.empty()) continue;
      const bool stands =
          candidate->gpu == Fake().hanging_gpu || StateOf(candidate->gpu) != cudaSuccess;
      const bool may_run = !stands && candidate->queue.front().ready();
      hangs = hangs || stands || (!may_run && candidate->queue.front().from_outside);
      if (may_run) ready.push_back(candidate);
    }
    if (ready.empty()) return hangs ? cudaErrorNotReady : cudaErrorLaunchTimeout;
    cudaStream_t chosen = ready[gpus.random() % ready.size()];
    const Work work = std::move(chosen->queue.front());
    chosen->queue.pop_front();
    work.run();
  }
  return StateOf(stream->gpu);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
