// On which back end library_convolutions_test runs its calls: the host's, or fake GPUs
// (tests/runtime/cuda).
#ifndef YUBA_TESTS_COMPILER_KERNELS_CONVOLUTION_BACKEND_H_
#define YUBA_TESTS_COMPILER_KERNELS_CONVOLUTION_BACKEND_H_

#include "runtime/session.h"

namespace yuba::kernels {

runtime::RunOptions ConvolutionOptions();

// Whether the library takes every part of a convolution; else some parts of filters are left to
// generated code.
bool TakesAllParts();

}  // namespace yuba::kernels

#endif  // YUBA_TESTS_COMPILER_KERNELS_CONVOLUTION_BACKEND_H_
