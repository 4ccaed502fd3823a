// A convolution, or a gradient of one, as it is described to cuDNN, computed on this processor; of
// a convolution also what is added to it.
#ifndef YUBA_TESTS_RUNTIME_CUDA_FAKE_CONVOLUTION_H_
#define YUBA_TESTS_RUNTIME_CUDA_FAKE_CONVOLUTION_H_

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <vector>

namespace yuba::cuda {

struct FakeTensor {
  std::vector<int64_t> extents, strides;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int64_t alignment = 1, number = 0;
  char* data = nullptr;
};

struct FakeConvolution {
  std::array<FakeTensor, 3> tensors;                   // input, filter, output
  std::vector<int64_t> strides, dilations, low, high;  // of the windows
  int result = 2;                                      // which of the tensors is computed
  bool adds = false;                                   // to what it holds
  std::vector<FakeTensor> added;  // to the result: with its extents, or 1 along a dimension
  bool relu = false;              // then
};

// Whether extents fit as the library wants them to.
bool Fits(const FakeConvolution& work);
void Compute(const FakeConvolution& work);

}  // namespace yuba::cuda

#endif  // YUBA_TESTS_RUNTIME_CUDA_FAKE_CONVOLUTION_H_
