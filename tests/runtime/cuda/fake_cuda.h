// GPUs in this processor's memory, in place of cudart: what the back end calls, and no more.
// Streams are queues whose work is done when somebody waits, in an order that only events restrict
// and that a seed decides: work that is not ordered by an event is done too early by some seed.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_CUDA_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_CUDA_H_

#include <cstdint>
#include <string>

namespace yuba::cuda {

struct FakeCuda {
  int gpus = 1;
  int sm = 80;
  bool peers = true;         // GPUs can read each other's memory
  int64_t memory = 1 << 30;  // bytes a GPU has
  uint64_t seed = 1;
  bool forget_waits = false;  // cudaStreamWaitEvent does nothing
  std::string fail;           // the function that fails when it is next called

  int64_t allocations = 0, streams = 0, events = 0, modules = 0;   // there now
  int64_t kernels = 0, row_copies = 0, products = 0, gathers = 0;  // started so far
};
FakeCuda& Fake();

// Gives cuBLAS's and NCCL's tables functions on fake GPUs.
void FakeLibraries();

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_CUDA_H_
