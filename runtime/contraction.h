// A library contraction in terms of strides: which of its loops become one matrix product (a call
// of oneDNN or cuBLASLt) and which go round it. Shared by the back ends; nothing of it fails or
// touches memory. Strides and offsets are in elements.
//
// Example: z[b,m,n] = sum over k of x[b,m,k] * y[k,n], all dense, b=8, m=16, n=32, k=64. y does not
// have b, so b and m are both row indices. They are contiguous in x and z: MergeIndices makes one
// row index of extent 128 of them, and PlanProduct gives one product, 128 x 64 by 64 x 32. If y had
// b too, b would be a batch index and there would be 8 products, 16 x 64 by 64 x 32.
#ifndef YUBA_RUNTIME_CONTRACTION_H_
#define YUBA_RUNTIME_CONTRACTION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/program/program.h"
#include "runtime/walk.h"

namespace yuba::runtime {

// One index of a library call on one device, and by how many elements a step of it moves in each
// tensor (0: the tensor does not have the index).
struct StridedIndex {
  int64_t extent = 1;
  int64_t left = 0, right = 0, result = 0;
  std::vector<int64_t> post;  // [operand of a post-op, as LibraryShape::post_ops has them]
};

// A step that the call does to each element of its result (program.proto, PostOp).
struct PostOpShape {
  program::PostOp::Kind kind = program::PostOp::ADD;
  double factor = 1;
  int operand = -1;  // position in Kernel.operands; -1: it has none
  int number = -1;   // of its operand, among the operands of all steps
};

// A library call on one device: its indices by role (program.proto, LibraryCall), already merged.
struct LibraryShape {
  bool no_result = false;                // the device writes nothing; all other fields are unset
  bool no_terms = false;                 // a reduction index runs over nothing: the result is zeros
  ElementType type = ElementType::kF32;  // of the operands
  ElementType result_type = ElementType::kF32;  // of the result: `type`, or the accumulator's
  BoxWalk result;  // the box that the call writes; a walk of one buffer
  // Offsets of the first elements used, from the start of each buffer. The windows of a convolution
  // are left out of them: along their dimensions the offset is that of the buffer's first position.
  int64_t left = 0, right = 0, output = 0;
  std::vector<StridedIndex> batch, groups, rows, columns, inner;
  std::vector<StridedIndex> all_rows, all_columns;  // before they were merged
  std::vector<PostOpShape> post_ops;
  // The box that the call writes, through the buffer of the result and then those of the steps'
  // operands, which stand still along dimensions that they do not have.
  BoxWalk post_op_walk;
};
// The shape of `kernel`, which calls a library.
LibraryShape ShapeOf(const LoadedProgram& program, const program::Kernel& kernel, int device);

// Joins two indices into one, repeatedly, where a step of the outer is a whole run of the inner in
// every tensor; drops indices of extent 1.
std::vector<StridedIndex> MergeIndices(std::vector<StridedIndex> indices);

// How one operand of a row-major matrix product lies in memory.
struct MatrixLayout {
  bool packed = false;      // no unit stride: it goes through a dense copy in the workspace
  bool transposed = false;  // a step to the next row is 1
  int64_t leading = 1;      // leading dimension, as BLAS has it
  int64_t row_step = 0, column_step = 0;  // strides, for packing
};

// C (m x n) = A (m x k) B (k x n), row-major, once for each step of `loops`, summed over the steps
// of `sums`. Where `swapped`, A is the right operand and C the transpose of the result's rows x
// columns.
struct ProductPlan {
  int64_t m = 1, n = 1, k = 1;
  bool swapped = false;
  MatrixLayout a, b, c;
  StridedIndex c_row, c_column;  // the indices along which C's rows and columns are numbered
  std::vector<StridedIndex> loops, sums;
};
// The cheapest choice of one row, one column and one inner index for the product, by a rough cost
// of time; the other indices become loops and sums. The shape has a result and terms.
ProductPlan PlanProduct(const LibraryShape& shape);
// The cheapest of those that `fits` accepts; nullopt where it accepts none.
absl::optional<ProductPlan> PlanProduct(const LibraryShape& shape,
                                        const std::function<bool(const ProductPlan&)>& fits);

// Calls visit(left, right, result) with the offsets of each step of `indices` from `depth` on, the
// first outermost, starting from the offsets given.
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

// Offsets in the tensors of a call, in elements. `post`: [operand of a post-op].
struct StepOffsets {
  int64_t left = 0, right = 0, result = 0;
  std::vector<int64_t> post;
};
// The same, with the operands of post-ops.
template <typename Visit>
void ForEachStep(const std::vector<StridedIndex>& indices, size_t depth, StepOffsets at,
                 const Visit& visit) {
  if (depth == indices.size()) {
    visit(static_cast<const StepOffsets&>(at));
    return;
  }
  const StridedIndex& index = indices[depth];
  for (int64_t i = 0; i < index.extent; ++i) {
    ForEachStep(indices, depth + 1, at, visit);
    at.left += index.left;
    at.right += index.right;
    at.result += index.result;
    for (size_t o = 0; o < index.post.size(); ++o) at.post[o] += index.post[o];
  }
}

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_CONTRACTION_H_
