// The descriptions that the importer writes itself, from the shapes of one use: what has no entry
// of its own because its text depends on them. Each is parsed and elaborated like any other.
//
// Extents in the texts are flat: x[6, (3 16)] is written x[6, 3, 16], and the groups beside the
// text say which flat dimensions make one of the value.
#ifndef YUBA_COMPILER_IMPORT_TEMPLATES_TEMPLATES_H_
#define YUBA_COMPILER_IMPORT_TEMPLATES_TEMPLATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/tie_class.h"

namespace yuba::onnx {

using Dims = std::vector<int64_t>;

// A description that the importer writes for one use. The text's dimensions are flat; `operands`
// and `outputs` group them into the dimensions of the values (empty: each is a dimension).
struct OpTemplate {
  using Groups = std::vector<std::vector<int64_t>>;
  std::string text;
  std::vector<Groups> operands;
  std::vector<Groups> outputs;
  TieClass tie_class = TieClass::kOperator;
};

// Both have the same number of elements. Blocks of equal products whose boundaries nest become
// factors and nothing moves; others are a pick over the row-major position.
OpTemplate ReshapeTemplate(const Dims& from, const Dims& to);

OpTemplate TransposeTemplate(const Dims& dims, const std::vector<int>& permutation);

// Parts of `lengths` along `axis`; the lengths add up to the dimension.
OpTemplate SplitTemplate(const Dims& dims, int axis, const Dims& lengths);

// At least two operands that differ in dimension `axis` at most; none is empty.
OpTemplate ConcatTemplate(const std::vector<Dims>& operands, int axis);

// Element i of dimension d is element start[d] + i*step[d]; all of them are inside.
OpTemplate SliceTemplate(const Dims& dims, const Dims& start, const Dims& step, const Dims& length);

// Dimensions of 1, and those in front that are missing, are repeated.
OpTemplate ExpandTemplate(const Dims& dims, const Dims& to);
OpTemplate TileTemplate(const Dims& dims, const Dims& repeats);

// `value` is a literal as the language writes it; `type` an element type's name.
OpTemplate FillTemplate(const Dims& dims, const std::string& value, const std::string& type);
OpTemplate RangeTemplate(int64_t length, const std::string& start, const std::string& step,
                         const std::string& type);

// NumPy's rules: 1-D operands are vectors, leading dimensions broadcast.
absl::StatusOr<OpTemplate> MatMulTemplate(const Dims& a, const Dims& b);
absl::StatusOr<OpTemplate> EinsumTemplate(const std::string& equation,
                                          const std::vector<Dims>& operands);

// A reduction over `axes`. `reducer` is the language's; `term` says what is reduced and `finish`
// what is done with it, with $ for the element, the result and N for the number of elements
// reduced.
struct ReduceText {
  const char* name;
  const char* reducer;
  const char* term = "$";
  const char* finish = "$";
};
OpTemplate ReduceTemplate(const ReduceText& reduce, const Dims& dims, const std::vector<int>& axes,
                          bool keep);
// argmax or argmin along `axis`; `last`: of equal ones the last instead of the first.
OpTemplate ArgTemplate(const std::string& reducer, const Dims& dims, int axis, bool keep,
                       bool last);

// One dimension extended by `lo` and `hi` from its own elements: "edge", "reflect" or "wrap".
OpTemplate BorderTemplate(const Dims& dims, int axis, int64_t lo, int64_t hi,
                          const std::string& mode);

// The name of an index: i0, i1, ... A name that is an element type's (i8, u8) is written i8_.
std::string IndexName(const std::string& prefix, int64_t number);

// The text of a list of extents or indices.
std::string Extents(const Dims& dims);
std::string Names(const std::string& prefix, int count, int first = 0);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TEMPLATES_TEMPLATES_H_
