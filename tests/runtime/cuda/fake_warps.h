// Threads of a GPU on this processor: kernels that generate_for_fakes.cc has made, in which each
// thread computes its share and the 32 threads of a warp exchange values.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_WARPS_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_WARPS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/program/kernel_abi.h"

namespace yuba::cuda {

// A kernel of a shared object.
struct ObjectKernel {
  runtime::HostKernel code = nullptr;
  int32_t* thread = nullptr;                        // yuba_thread of the object, or null
  int32_t (**shuffle)(int32_t, int32_t) = nullptr;  // yuba_shuffle of the object, or null
  void (**barrier)(int32_t) = nullptr;              // yuba_barrier of the object, or null
  bool shuffles = false;                            // its threads exchange values within a warp
  bool waits = false;                               // they wait for those of their block
};

// Null where the object, of dlopen, has no such kernel.
std::unique_ptr<ObjectKernel> FindKernel(void* object, const std::string& name);

// Runs all threads, warps or blocks in an order that `seed` picks. A warp that exchanges values
// runs as 32 coroutines, each until it needs the others' values, and a block whose threads wait as
// one of all of them; aborts where some of them end while others wait, which a GPU would not
// forgive. One call at a time in the process.
void RunThreads(const ObjectKernel& kernel, void* const* buffers, const int64_t* arguments,
                int64_t blocks, int64_t block, uint64_t seed);

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_WARPS_H_
