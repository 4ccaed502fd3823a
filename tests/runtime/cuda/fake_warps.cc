#include "tests/runtime/cuda/fake_warps.h"

#include <dlfcn.h>
#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "opsemantics/base/check.h"

namespace yuba::cuda {
namespace {

constexpr int kWarp = 32;
constexpr size_t kStackBytes = 64 << 10;

// Where a thread has given control back.
enum class Stop { kStart, kExchange, kWarpBarrier, kBlockBarrier, kEnd };

// A thread of those that run at once, as a coroutine.
struct Lane {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  Stop stop = Stop::kStart;
  int32_t given = 0, distance = 0, taken = 0;  // at the exchange where it waits
};

// The threads that run at once: a warp, or, where they wait for each other, a block.
struct Threads {
  std::vector<std::unique_ptr<Lane>> lanes;  // at least as many as run
  ucontext_t scheduler;
  int running = 0;  // the lane
  const ObjectKernel* kernel = nullptr;
  void* const* buffers = nullptr;
  const int64_t* arguments = nullptr;
};

// Those that run, whose coroutines' stacks serve all later ones.
Threads& Current() {
  static Threads* const threads = new Threads;
  return *threads;
}

Lane& GiveBack(Stop stop) {
  Threads& threads = Current();
  Lane& lane = *threads.lanes[threads.running];
  lane.stop = stop;
  swapcontext(&lane.context, &threads.scheduler);
  return lane;
}

int32_t Shuffle(int32_t value, int32_t distance) {
  Lane& lane = *Current().lanes[Current().running];
  lane.given = value;
  lane.distance = distance;
  return GiveBack(Stop::kExchange).taken;
}

void Barrier(int32_t of_block) {
  GiveBack(of_block != 0 ? Stop::kBlockBarrier : Stop::kWarpBarrier);
}

void RunLane() {
  Threads& threads = Current();
  threads.kernel->code(threads.buffers, threads.arguments);
  threads.lanes[threads.running]->stop = Stop::kEnd;
}

// Runs the threads of warp number `warp` to where they stop next, all at the same place.
Stop RunWarp(int warp, int32_t* thread, int32_t first) {
  Threads& threads = Current();
  const int begin = warp * kWarp;
  for (int i = begin; i < begin + kWarp; ++i) {
    Lane& lane = *threads.lanes[i];
    threads.running = i;
    if (thread != nullptr) thread[0] = first + i;
    swapcontext(&threads.scheduler, &lane.context);
    YUBA_CHECK(lane.stop == threads.lanes[begin]->stop) << "threads of a warp stop at two places";
  }
  const Lane& all = *threads.lanes[begin];
  for (int i = 0; i < kWarp && all.stop == Stop::kExchange; ++i) {
    Lane& lane = *threads.lanes[begin + i];
    YUBA_CHECK(lane.distance == all.distance) << "threads of a warp are at two exchanges";
    lane.taken = threads.lanes[begin + (i ^ lane.distance)]->given;
  }
  return all.stop;
}

// Runs `count` threads, whole warps, from number `first` of their block.
void RunTogether(const ObjectKernel& kernel, int32_t first, int count) {
  Threads& threads = Current();
  while (static_cast<int>(threads.lanes.size()) < count)
    threads.lanes.push_back(std::make_unique<Lane>());
  for (int i = 0; i < count; ++i) {
    Lane& lane = *threads.lanes[i];
    lane.stop = Stop::kStart;
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.get();
    lane.context.uc_stack.ss_size = kStackBytes;
    lane.context.uc_link = &threads.scheduler;
    makecontext(&lane.context, RunLane, 0);
  }
  for (;;) {  // to the next barrier of the block, or to the end
    int ended = 0;
    const int warps = count / kWarp;
    for (int warp = 0; warp < warps; ++warp) {
      Stop stop = Stop::kStart;
      while (stop != Stop::kEnd && stop != Stop::kBlockBarrier)
        stop = RunWarp(warp, kernel.thread, first);
      ended += stop == Stop::kEnd ? 1 : 0;
    }
    if (ended == warps) return;
    YUBA_CHECK(ended == 0) << ended << " warps of a block have ended where others wait for them";
  }
}

}  // namespace

std::unique_ptr<ObjectKernel> FindKernel(void* object, const std::string& name) {
  auto kernel = std::make_unique<ObjectKernel>();
  kernel->code = reinterpret_cast<runtime::HostKernel>(dlsym(object, name.c_str()));
  if (kernel->code == nullptr) return nullptr;
  kernel->thread = static_cast<int32_t*>(dlsym(object, "yuba_thread"));
  kernel->shuffle = static_cast<int32_t (**)(int32_t, int32_t)>(dlsym(object, "yuba_shuffle"));
  kernel->barrier = static_cast<void (**)(int32_t)>(dlsym(object, "yuba_barrier"));
  kernel->shuffles = dlsym(object, (name + "_shuffles").c_str()) != nullptr;
  kernel->waits = dlsym(object, (name + "_waits").c_str()) != nullptr;
  return kernel;
}

void RunThreads(const ObjectKernel& kernel, void* const* buffers, const int64_t* arguments,
                int64_t blocks, int64_t block, uint64_t seed) {
  Threads& threads = Current();
  threads.kernel = &kernel;
  threads.buffers = buffers;
  threads.arguments = arguments;
  if (kernel.shuffle != nullptr) *kernel.shuffle = Shuffle;
  if (kernel.barrier != nullptr) *kernel.barrier = Barrier;
  const int together = kernel.waits ? static_cast<int>(block) : kWarp;
  std::vector<int64_t> order(blocks * block / together);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  for (const int64_t number : order) {
    const int64_t first = number * together;
    if (kernel.thread != nullptr) {
      kernel.thread[1] = static_cast<int32_t>(block);
      kernel.thread[2] = static_cast<int32_t>(first / block);
      kernel.thread[3] = static_cast<int32_t>(blocks);
    }
    if (kernel.shuffles || kernel.waits) {
      RunTogether(kernel, static_cast<int32_t>(first % block), together);
      continue;
    }
    for (int lane = 0; lane < kWarp; ++lane) {
      if (kernel.thread != nullptr) kernel.thread[0] = static_cast<int32_t>(first % block) + lane;
      kernel.code(buffers, arguments);
    }
  }
}

}  // namespace yuba::cuda
