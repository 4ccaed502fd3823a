#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_streams.h"

#include <sys/mman.h>

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

cudaError_t Enqueue(cudaStream_t stream, std::function<void()> run, std::function<bool()> ready) {
  if (stream == nullptr || Gpus().streams.count(stream) == 0) return cudaErrorInvalidResourceHandle;
  if (StateOf(stream->gpu) != cudaSuccess) return StateOf(stream->gpu);
  stream->queue.push_back({std::move(ready), std::move(run)});
  return cudaSuccess;
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
  if (Fake().peers) return Enqueue(stream, std::move(run));
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
      hangs = hangs || stands;
      if (!stands && candidate->queue.front().ready()) ready.push_back(candidate);
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
