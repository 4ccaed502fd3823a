#ifdef YUBA_WITH_CUDA
// A machine with two fake GPUs for a whole process: yuba-run-on-fakes.
#include "tests/runtime/cuda/fake_cuda.h"

namespace yuba::cuda {
namespace {

const bool kMachineIsFake = [] {
  FakeLibraries();
  Fake().gpus = 2;
  Fake().sm = 90;
  return true;
}();

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
