#ifdef YUBA_WITH_CUDA
// A machine with two fake GPUs for a whole process: yuba-run-on-fakes. With FAKE_REFUSES_GRADIENTS
// in its environment their cuBLASLt has no joint calls.
#include <cstdlib>

#include "tests/runtime/cuda/fake_cuda.h"

namespace yuba::cuda {
namespace {

const bool kMachineIsFake = [] {
  FakeLibraries();
  Fake().gpus = 2;
  Fake().sm = 90;
  Fake().refuses_gradients = std::getenv("FAKE_REFUSES_GRADIENTS") != nullptr;
  return true;
}();

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
