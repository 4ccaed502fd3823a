#ifdef YUBA_WITH_CUDA
// A machine with a fake GPU, or as many as FAKE_GPUS says, for a whole process: yuba-run-on-fakes.
// With FAKE_REFUSES_GRADIENTS
// in its environment its cuBLASLt has no joint calls.
#include <cstdlib>

#include "tests/runtime/cuda/fake_cuda.h"

namespace yuba::cuda {
namespace {

const bool kMachineIsFake = [] {
  FakeLibraries();
  const char* const gpus = std::getenv("FAKE_GPUS");
  Fake().gpus = gpus == nullptr ? 1 : std::atoi(gpus);
  Fake().sm = 90;
  Fake().refuses_gradients = std::getenv("FAKE_REFUSES_GRADIENTS") != nullptr;
  return true;
}();

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
