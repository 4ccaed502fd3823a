// The machine behind the fake GPUs: their memory, and streams of work that is done in any order
// that events leave open.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_STREAMS_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_STREAMS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/cuda/libraries.h"

namespace yuba::cuda {

// An entry of a stream's queue: it may run once `ready` says so.
struct Work {
  std::function<bool()> ready;
  std::function<void()> run;
  bool from_outside = false;  // it is ready by what another thread has yet to start
};

// Work that a capture has recorded; it may run once all of `after` have.
struct Node {
  cudaStream_t stream = nullptr;  // that it was started on
  int gpu = 0;
  std::function<void()> run;
  std::set<size_t> after;  // numbers of nodes
  std::function<bool()> ready = [] { return true; };
  bool from_outside = false;  // Work
};
struct Capture {
  cudaStream_t origin = nullptr;
  std::thread::id thread;  // that began it
  std::vector<Node> nodes;
  std::set<cudaStream_t> streams;
  bool invalid = false;  // a call was made that a capture cannot have
};

}  // namespace yuba::cuda

struct CUstream_st {
  int gpu = 0;
  std::deque<yuba::cuda::Work> queue;
  std::shared_ptr<yuba::cuda::Capture> capture;  // null: the stream does what is started on it
  std::set<size_t> last;                         // nodes that its next one comes after
};

namespace yuba::cuda {

struct FakeMachine {
  std::mutex mutex;
  std::mt19937_64 random{1};
  std::set<cudaStream_t> streams;
  std::map<void*, std::pair<int, int64_t>> memory;  // by address: GPU and bytes
  std::map<int, int64_t> used;                      // by GPU: bytes
  std::set<int> broken;                             // GPUs after an illegal address
  double microseconds = 0;                          // that products have taken
};
// The one machine of the process.
FakeMachine& Gpus();
extern thread_local int current;  // the calling thread's GPU

// Whether `function` is to fail now; it does so once.
bool Fails(const char* function);

// Puts work at the end of the stream's queue. The caller holds the machine's mutex.
cudaError_t Enqueue(
    cudaStream_t stream, std::function<void()> run,
    std::function<bool()> ready = [] { return true; }, bool from_outside = false);

// Does work of any stream until `stream` has none; cudaErrorLaunchTimeout where the streams wait
// for each other, cudaErrorNotReady where one hangs, is on a broken GPU, or waits for what another
// thread has yet to start. The caller holds the machine's mutex.
cudaError_t Drain(cudaStream_t stream);

// Whether a stream may be waited for or asked; else what it captures is spoilt, as by the driver.
cudaError_t LeaveAlone(cudaStream_t stream);

// Whether all nodes of a capture come before what comes after `last`.
bool AllBefore(const Capture& capture, const std::set<size_t>& last);

// Puts the nodes of a graph at the end of the stream's queue: from then on any of them may run once
// those that it comes after have, as that of a stream of its GPU. They outlive their graph.
cudaError_t StartNodes(const std::shared_ptr<const std::vector<Node>>& nodes, cudaStream_t stream);

// The same of what reads and writes memory as a kernel does: that of its own GPU alone.
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
