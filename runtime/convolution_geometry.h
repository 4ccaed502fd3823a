// One library convolution, or gradient of one, on one device in the terms of a convolution routine:
// dense roles, extents, strides, padding. What the routine has no role for becomes loops round it.
//
// Example: 8 rows, window 3, stride 1, low 1, cut over two devices. Device 0 runs outputs [0, 4)
// and its buffer has input rows [0, 5): pad_left 1, pad_right 0, input 5. Device 1 has rows [3, 8):
// pad_left 0, pad_right 1. The halo row was gathered into the buffer; padding is only what lies
// outside the whole tensor. For the data gradient the device that has rows [0, 4) of the input
// reads outputs [0, 5): input 4, outputs 5, pad_left 1, and pad_right 2, because the rows behind
// its own that these outputs reach too are others' to compute.
#ifndef YUBA_RUNTIME_CONVOLUTION_GEOMETRY_H_
#define YUBA_RUNTIME_CONVOLUTION_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/contraction.h"
#include "runtime/program/library_windows.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// One window on one device. Extents are in positions, steps are strides of memory in elements. All
// three extents are of what meets: the first and last position of each have a term, but for up to
// stride - 1 positions at the end of the input, with which pad_right may be negative.
struct LocalWindow {
  int64_t input = 1, taps = 1, outputs = 1;
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
  int64_t left = 0, right = 0, output = 0;  // offsets of the first elements used; of the result
  bool no_terms = false;                    // nothing meets: the result is zeros
  bool has_gaps = false;                    // the call leaves out elements of the result: zeros
};

// How a routine takes the groups of a filter: as a dimension before the output channels of a group,
// or as one with them.
enum class FilterGroups { kOwnDimension, kWithChannels };

// `shape` is ShapeOf the kernel on this device; it has a result and terms.
ConvolutionGeometry GeometryOf(const LoadedProgram& program, const program::Kernel& kernel,
                               const LibraryShape& shape, int device, FilterGroups filter_groups);

// A contraction that is a convolution with windows of one tap: the channels that it makes stand
// outside of positions in its result, as in y[n, o, p, q] = sum(c) x[n, c, p, q] * w[o, c]. nullopt
// for others. The result is the output, and `input_is_left` says which operand is the input.
struct PointwiseConvolution {
  ConvolutionGeometry geometry;
  bool input_is_left = true;
};
absl::optional<PointwiseConvolution> PointwiseOf(const LibraryShape& shape);

// By how much a step of the index moves in the tensor.
int64_t StepIn(const StridedIndex& index, LibraryTensor tensor);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_CONVOLUTION_GEOMETRY_H_
