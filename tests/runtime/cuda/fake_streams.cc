#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_streams.h"

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
  stream->queue.push_back({std::move(ready), std::move(run)});
  return cudaSuccess;
}

cudaError_t CopyLate(void* to, const void* from, size_t bytes) {
  const std::string staged(static_cast<const char*>(from), bytes);
  Gpus().late.push_back([=] { std::memcpy(to, staged.data(), staged.size()); });
  return cudaSuccess;
}

cudaError_t Drain(cudaStream_t stream) {
  FakeMachine& gpus = Gpus();
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
  for (const auto& copy : gpus.late) copy();
  gpus.late.clear();
  return cudaSuccess;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
