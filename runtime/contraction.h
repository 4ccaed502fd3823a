// A contraction by structure, in terms of strides: which loops are one matrix product and which go
// round it. Shared by the back ends; strides and offsets are in elements.
#ifndef YUBA_RUNTIME_CONTRACTION_H_
#define YUBA_RUNTIME_CONTRACTION_H_

#include <cstdint>
#include <vector>

#include "runtime/program/program.h"
#include "runtime/walk.h"

namespace yuba::runtime {

// One index of a library call, and how far a step of it moves in each tensor (0: not at all).
struct StridedIndex {
  int64_t extent = 1;
  int64_t left = 0, right = 0, result = 0;
};

// A library call on one device.
struct LibraryShape {
  bool no_result = false;  // the device makes nothing
  bool no_terms = false;   // its result is zeros: nothing is summed
  BoxWalk result;          // the box that the call writes; one buffer
  // Offsets of the first elements used; of a convolution's windows, where the buffers start.
  int64_t left = 0, right = 0, output = 0;
  std::vector<StridedIndex> batch, groups, rows, columns, inner;
};
LibraryShape ShapeOf(const LoadedProgram& program, const program::Kernel& kernel, int device);

// Joins indices of one role that are contiguous in every tensor, and drops those of extent 1.
std::vector<StridedIndex> MergeIndices(std::vector<StridedIndex> indices);

// How one operand of a row-major matrix product lies in memory.
struct MatrixLayout {
  bool packed = false;  // no unit stride: it goes through a dense copy
  bool transposed = false;
  int64_t leading = 1;                    // leading dimension
  int64_t row_step = 0, column_step = 0;  // strides, for packing
};

// C (m x n) = A (m x k) B (k x n), row-major, once for each step of `loops`, summed over `sums`.
// swapped: A is the right operand (and the product is the transpose of the natural one).
struct ProductPlan {
  int64_t m = 1, n = 1, k = 1;
  bool swapped = false;
  MatrixLayout a, b, c;
  std::vector<StridedIndex> loops, sums;
};
ProductPlan PlanProduct(const LibraryShape& shape);

// Calls visit(left, right, result) with the offsets of each step of `indices`, first outermost.
template <typename Visit>
void ForEachStep(const std::vector<StridedIndex>& indices, size_t depth, int64_t left,
                 int64_t right, int64_t result, const Visit& visit) {
  if (depth == indices.size()) {
    visit(left, right, result);
    return;
  }
  const StridedIndex& index = indices[depth];
  for (int64_t i = 0; i < index.extent; ++i) {
    ForEachStep(indices, depth + 1, left + i * index.left, right + i * index.right,
                result + i * index.result, visit);
  }
}

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_CONTRACTION_H_
