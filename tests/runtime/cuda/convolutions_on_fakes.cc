// tests/compiler/kernels/library_convolutions_test on a fake GPU.
#ifdef YUBA_WITH_CUDA
#include "tests/compiler/kernels/convolution_backend.h"
#include "tests/runtime/cuda/on_fakes.h"

namespace yuba::kernels {

runtime::RunOptions ConvolutionOptions() {
  static const bool fake = (cuda::FakeLibraries(), cuda::Fake().memory = int64_t{1} << 34, true);
  return fake ? cuda::OnCuda() : runtime::RunOptions();
}

bool TakesAllParts() { return false; }

}  // namespace yuba::kernels

#endif  // YUBA_WITH_CUDA
