#include "tests/compiler/kernels/convolution_backend.h"

namespace yuba::kernels {

runtime::RunOptions ConvolutionOptions() { return {}; }

bool TakesAllParts() { return true; }

}  // namespace yuba::kernels
