// One convolution on one device in local terms: extents, strides, padding.
#ifndef YUBA_RUNTIME_HOST_CONVOLUTION_GEOMETRY_H_
#define YUBA_RUNTIME_HOST_CONVOLUTION_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "runtime/contraction.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// One window on one device, in local terms.
struct LocalWindow {
  int64_t input = 0, taps = 0, outputs = 0;               // extents
  int64_t input_step = 0, tap_step = 0, output_step = 0;  // strides
  int64_t stride = 1, dilation = 1, pad_left = 0, pad_right = 0;
};

// The dense roles of one library convolution; what does not fit in them are loops round it.
struct ConvolutionGeometry {
  StridedIndex batch, group, channel, inner;
  std::vector<LocalWindow> windows;  // outermost of the input first
  std::vector<StridedIndex> loops, sums;
  int64_t left = 0, right = 0, output = 0;
  bool only_padding = false;  // no input is touched: the result is zeros
};

// Padding is what the boxes leave, so inner parts have none.
ConvolutionGeometry GeometryOf(const LoadedProgram& program, const program::Kernel& kernel,
                               const LibraryShape& shape, int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_CONVOLUTION_GEOMETRY_H_
