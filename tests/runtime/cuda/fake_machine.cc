#ifdef YUBA_WITH_CUDA
// A machine with fake GPUs for a whole process, as yuba-run-on-fakes: two GPUs, or as many as the
// environment's YUBA_FAKE_GPUS says.
#include <cstdlib>

#include "tests/runtime/cuda/fake_cuda.h"

namespace yuba::cuda {
namespace {

const bool kMachineIsFake = [] {
  FakeLibraries();
  const char* const gpus = std::getenv("YUBA_FAKE_GPUS");
  Fake().gpus = gpus != nullptr ? std::atoi(gpus) : 2;
  Fake().sm = 90;
  return true;
}();

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
