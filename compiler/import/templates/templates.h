// Templates: descriptions that import writes itself, for one use, because their text depends on its
// shapes (ranks, lengths, the axes of a reduction). Each text is parsed and elaborated like any
// entry of the library; nothing else in the compiler knows where it came from. Arguments must fit
// each other, as the comments say; the translations check that first.
//
// Extents in the texts are flat: x[6, (3 16)] is written x[6, 3, 16], and the groups beside the
// text say which flat dimensions make up one dimension of the value.
//
// Example: ReshapeTemplate({6, 48}, {6, 3, 16}) has a text like
//   op reshape(x[6, 3, 16]) -> y[6, 3, 16]  y[a, b, c] = x[a, b, c]
// with the operand's groups {{6}, {3, 16}} and one group for each dimension of y: a view.
#ifndef YUBA_COMPILER_IMPORT_TEMPLATES_TEMPLATES_H_
#define YUBA_COMPILER_IMPORT_TEMPLATES_TEMPLATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/tie_class.h"

namespace yuba::onnx {

using Dims = std::vector<int64_t>;

// A description for one use.
struct OpTemplate {
  // [dimension of the value]: the extents of the flat dimensions that make it up.
  using Groups = std::vector<std::vector<int64_t>>;
  std::string text;              // in the language of opsemantics, with one op
  std::vector<Groups> operands;  // [operand]; empty: each flat dimension is one of the value
  std::vector<Groups> outputs;   // [output]; empty: as above
  TieClass tie_class = TieClass::kOperator;
};

// `from` and `to` have equally many elements. Blocks of dimensions with equal products whose
// boundaries nest become factors, and nothing moves; other blocks are a pick over the row-major
// position within the block.
OpTemplate ReshapeTemplate(const Dims& from, const Dims& to);

OpTemplate TransposeTemplate(const Dims& dims, const std::vector<int>& permutation);

// Parts of `lengths` along `axis`; the lengths add up to the dimension.
OpTemplate SplitTemplate(const Dims& dims, int axis, const Dims& lengths);

// At least two operands, which differ in dimension `axis` at most. None is empty.
OpTemplate ConcatTemplate(const std::vector<Dims>& operands, int axis);

// Element i of the result's dimension d is element start[d] + i*step[d] of the operand's; all are
// inside. step may be negative.
OpTemplate SliceTemplate(const Dims& dims, const Dims& start, const Dims& step, const Dims& length);

// Expand: dimensions of 1, and missing dimensions in front, are repeated to the extents `to`.
OpTemplate ExpandTemplate(const Dims& dims, const Dims& to);
// Tile: dimension d of the operand comes repeats[d] times.
OpTemplate TileTemplate(const Dims& dims, const Dims& repeats);

// All elements are `value`; a range has start, start + step, ... `value`, `start` and `step` are
// literals as the language writes them, `type` is an element type's name.
OpTemplate FillTemplate(const Dims& dims, const std::string& value, const std::string& type);
OpTemplate RangeTemplate(int64_t length, const std::string& start, const std::string& step,
                         const std::string& type);

// A matrix product by NumPy's rules: one-dimensional operands are vectors, leading dimensions
// broadcast. An error (InvalidArgument) where the shapes do not fit.
absl::StatusOr<OpTemplate> MatMulTemplate(const Dims& a, const Dims& b);
// An einsum by its equation, such as "bij,bjk->bik", with or without "->" and ellipsis. An error
// where the equation is wrong or the shapes do not fit it.
absl::StatusOr<OpTemplate> EinsumTemplate(const std::string& equation,
                                          const std::vector<Dims>& operands);

// What a reduction reduces and what it does with the result. In `term`, $ is the element; in
// `finish`, $ is the reduced value, in brackets, and N the number of elements reduced. A mean is
// {"reduce_mean", "sum", "$", "$ / N"}.
struct ReduceText {
  const char* name;          // of the op
  const char* reducer;       // of the language: sum, max, ...
  const char* term = "$";    // what is reduced
  const char* finish = "$";  // what is done with it
};
// A reduction over `axes`, ascending. `keep`: these dimensions stay, with extent 1.
OpTemplate ReduceTemplate(const ReduceText& reduce, const Dims& dims, const std::vector<int>& axes,
                          bool keep);
// The greatest or least (`reducer`: max, min) over `axes`, at least one, of floats of `type`, whose
// gradient is shared out evenly to all elements that are equal to it. That of a ReduceTemplate goes
// to the first of them.
OpTemplate SharedExtremeTemplate(const std::string& reducer, const std::string& type,
                                 const Dims& dims, const std::vector<int>& axes, bool keep);
// The logarithm of the sum of exponentials over `axes`, at least one: without overflow, and of
// infinities what the formula says.
OpTemplate LogSumExpTemplate(const Dims& dims, const std::vector<int>& axes, bool keep);
// argmax or argmin (`reducer`) along `axis`. `last`: of equal elements the last counts, not the
// first.
OpTemplate ArgTemplate(const std::string& reducer, const Dims& dims, int axis, bool keep,
                       bool last);

// Where the greatest element of each window of x[batch, channels, ...] stands in x, counted in
// row-major order, or with `columns` in column-major order of the dimensions behind the channels;
// of equal ones the first in the window. Each list has an entry for each of these dimensions; `lo`
// are pads in front, and `result` the extents of the result.
struct WindowText {
  Dims kernel, stride, dilation, lo, result;
};
OpTemplate MaxPoolIndicesTemplate(const Dims& dims, const WindowText& window, bool columns);

// Dimension `axis` extended by `lo` elements in front and `hi` behind, from its own elements.
// `mode` is "edge", "reflect" or "wrap".
OpTemplate BorderTemplate(const Dims& dims, int axis, int64_t lo, int64_t hi,
                          const std::string& mode);

// The name of index `number`: i0, i1, ... for the prefix "i". A name that is an element type's (i8,
// u8) gets an underscore: i8_.
std::string IndexName(const std::string& prefix, int64_t number);

// The text of a list of extents, "[6, 3, 16]", and of `count` indices from number `first` on,
// "i0, i1, i2".
std::string Extents(const Dims& dims);
std::string Names(const std::string& prefix, int count, int first = 0);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TEMPLATES_TEMPLATES_H_
