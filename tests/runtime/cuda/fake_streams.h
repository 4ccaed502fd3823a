// The machine behind the fake GPUs: their memory, and streams of work that is done in any order
// that events leave open.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_STREAMS_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_STREAMS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/libraries.h"

namespace yuba::cuda {

// An entry of a stream's queue: it may run once `ready` says so.
struct Work {
  std::function<bool()> ready;
  std::function<void()> run;
};

}  // namespace yuba::cuda

struct CUstream_st {
  int gpu = 0;
  std::deque<yuba::cuda::Work> queue;
};

namespace yuba::cuda {

struct FakeMachine {
  std::mutex mutex;
  std::mt19937_64 random{1};
  std::set<cudaStream_t> streams;
  std::map<void*, std::pair<int, int64_t>> memory;  // by address: GPU and bytes
  std::map<int, int64_t> used;                      // by GPU: bytes
  std::set<int> broken;                             // GPUs after an illegal address
};
// The one machine of the process.
FakeMachine& Gpus();
extern thread_local int current;  // the calling thread's GPU

// Whether `function` is to fail now; it does so once.
bool Fails(const char* function);

// Puts work at the end of the stream's queue. The caller holds the machine's mutex.
cudaError_t Enqueue(
    cudaStream_t stream, std::function<void()> run,
    std::function<bool()> ready = [] { return true; });

// Does work of any stream until `stream` has none; cudaErrorLaunchTimeout where the streams wait
// for each other, cudaErrorNotReady where one hangs or is on
// a broken GPU. The caller holds the machine's mutex.
cudaError_t Drain(cudaStream_t stream);

// The same of what reads and writes memory as a kernel does: where GPUs cannot reach each other,
// only that of its own GPU.
cudaError_t EnqueueKernel(cudaStream_t stream, std::function<void()> run);

// What every call for a broken GPU gives; cudaSuccess for one that is well.
cudaError_t StateOf(int gpu);

// Memory of a GPU, which only work that is drained can touch.
void* AllocatePages(size_t bytes);
void FreePages(void* data, size_t bytes);

// The driver's function of this name, for cudaGetDriverEntryPointByVersion.
void* DriverFunction(const std::string& name);

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_STREAMS_H_
