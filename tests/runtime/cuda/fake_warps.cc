#ifdef YUBA_WITH_CUDA
#include "tests/runtime/cuda/fake_warps.h"

#include <dlfcn.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "opsemantics/base/check.h"

namespace yuba::cuda {
namespace {

constexpr int kWarp = 32;
constexpr size_t kStackBytes = 256 << 10;

// A thread of the warp that runs, as a coroutine.
struct Lane {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(kStackBytes);
  bool ended = false;
  int32_t given = 0, distance = 0, taken = 0;  // at the exchange where it waits
};

struct Warp {
  std::array<Lane, kWarp> lanes;
  ucontext_t scheduler;
  int running = 0;  // the lane
  const ObjectKernel* kernel = nullptr;
  void* const* buffers = nullptr;
  const int64_t* arguments = nullptr;
};

// The one that runs, whose coroutines' stacks serve all later ones.
Warp& Current() {
  static Warp* const warp = new Warp;
  return *warp;
}

int32_t Shuffle(int32_t value, int32_t distance) {
  Warp& warp = Current();
  Lane& lane = warp.lanes[warp.running];
  lane.given = value;
  lane.distance = distance;
  swapcontext(&lane.context, &warp.scheduler);
  return lane.taken;
}

void RunLane() {
  Warp& warp = Current();
  warp.kernel->code(warp.buffers, warp.arguments);
  warp.lanes[warp.running].ended = true;
}

// Runs each lane to its end or to an exchange; returns how many have ended.
int RunLanes(int32_t* thread, int32_t first) {
  Warp& warp = Current();
  int ended = 0;
  for (warp.running = 0; warp.running < kWarp; ++warp.running) {
    Lane& lane = warp.lanes[warp.running];
    if (thread != nullptr) thread[0] = first + warp.running;
    if (!lane.ended) swapcontext(&warp.scheduler, &lane.context);
    ended += lane.ended ? 1 : 0;
  }
  return ended;
}

void RunWarp(const ObjectKernel& kernel, int32_t first) {
  Warp& warp = Current();
  for (Lane& lane : warp.lanes) {
    lane.ended = false;
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.data();
    lane.context.uc_stack.ss_size = lane.stack.size();
    lane.context.uc_link = &warp.scheduler;
    makecontext(&lane.context, RunLane, 0);
  }
  for (;;) {
    const int ended = RunLanes(kernel.thread, first);
    if (ended == kWarp) return;
    YUBA_CHECK(ended == 0) << ended << " threads of a warp have ended where others exchange values";
    for (int i = 0; i < kWarp; ++i) {
      Lane& lane = warp.lanes[i];
      YUBA_CHECK(lane.distance == warp.lanes[0].distance) << "threads of a warp are at two places";
      lane.taken = warp.lanes[i ^ lane.distance].given;
    }
  }
}

}  // namespace

std::unique_ptr<ObjectKernel> FindKernel(void* object, const std::string& name) {
  auto kernel = std::make_unique<ObjectKernel>();
  kernel->code = reinterpret_cast<runtime::HostKernel>(dlsym(object, name.c_str()));
  if (kernel->code == nullptr) return nullptr;
  kernel->thread = static_cast<int32_t*>(dlsym(object, "yuba_thread"));
  kernel->shuffle = static_cast<int32_t (**)(int32_t, int32_t)>(dlsym(object, "yuba_shuffle"));
  kernel->shuffles = dlsym(object, (name + "_shuffles").c_str()) != nullptr;
  return kernel;
}

void RunThreads(const ObjectKernel& kernel, void* const* buffers, const int64_t* arguments,
                int64_t blocks, int64_t block, uint64_t seed) {
  Warp& warp = Current();
  warp.kernel = &kernel;
  warp.buffers = buffers;
  warp.arguments = arguments;
  if (kernel.shuffle != nullptr) *kernel.shuffle = Shuffle;
  std::vector<int64_t> order(blocks * block / kWarp);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  for (const int64_t number : order) {
    const int64_t first = number * kWarp;
    if (kernel.thread != nullptr) {
      kernel.thread[1] = static_cast<int32_t>(block);
      kernel.thread[2] = static_cast<int32_t>(first / block);
      kernel.thread[3] = static_cast<int32_t>(blocks);
    }
    if (kernel.shuffles) {
      RunWarp(kernel, static_cast<int32_t>(first % block));
      continue;
    }
    for (int lane = 0; lane < kWarp; ++lane) {
      if (kernel.thread != nullptr) kernel.thread[0] = static_cast<int32_t>(first % block) + lane;
      kernel.code(buffers, arguments);
    }
  }
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
