// One library convolution on one device in the terms of a convolution routine: dense roles,
// extents, strides, padding. What the routine has no role for becomes loops round it.
//
// Example: 8 rows, window 3, stride 1, low 1, cut over two devices. Device 0 runs outputs [0, 4)
// and its buffer has input rows [0, 5): pad_left 1, pad_right 0, input 5. Device 1 has rows [3, 8):
// pad_left 0, pad_right 1. The halo row was gathered into the buffer; padding is only what lies
// outside the whole tensor.
#ifndef YUBA_RUNTIME_HOST_CONVOLUTION_GEOMETRY_H_
#define YUBA_RUNTIME_HOST_CONVOLUTION_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "runtime/contraction.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// One window on one device. Extents are in positions, steps are strides of memory in elements.
struct LocalWindow {
  int64_t input = 0, taps = 0, outputs = 0;  // extents; of the input only what is read
  int64_t input_step = 0, tap_step = 0, output_step = 0;
  int64_t stride = 1, dilation = 1, pad_left = 0, pad_right = 0;
};

// The roles of one routine call, one index each (extent 1: none): images, groups, output channels
// of a group, input channels of a group. The call is made once for each step of `loops`, and the
// results of the steps of `sums` are added up.
struct ConvolutionGeometry {
  StridedIndex batch, group, channel, inner;
  std::vector<LocalWindow> windows;  // outermost in the input's memory first
  std::vector<StridedIndex> loops, sums;
  int64_t left = 0, right = 0, output = 0;  // offsets of the first elements used
  bool only_padding = false;                // no input is touched: the result is zeros
};

// `shape` is ShapeOf the kernel on this device; it has a result and terms. Padding is the reach of
// the window beyond what the device holds, so parts from the middle of a tensor have none.
ConvolutionGeometry GeometryOf(const LoadedProgram& program, const program::Kernel& kernel,
                               const LibraryShape& shape, int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_CONVOLUTION_GEOMETRY_H_
