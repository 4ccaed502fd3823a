// Structure: what kind of computation a definition is, whatever its operator is called and however
// its indices are ordered. Library kernels attach to this and to nothing else.
#ifndef YUBA_OPSEMANTICS_REGIONS_STRUCTURE_H_
#define YUBA_OPSEMANTICS_REGIONS_STRUCTURE_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// result[b.., m.., n..] = sum(k..) left[b.., m.., k..] * right[b.., k.., n..], in any order of the
// dimensions; each read is of bare indices (dimensions of extent 1 may be read at 0). Positions are
// of Definition::indices. `left` is the operand whose own indices come first in the result.
struct Contraction {
  int left = 0;                                  // operand
  int right = 1;                                 // operand; may equal left
  std::vector<int> batch, rows, columns, inner;  // b, m, n, k
};
absl::optional<Contraction> MatchContraction(const Definition& definition);

// One spatial dimension of a convolution: input position = p*stride + u*dilation - low.
struct Window {
  int output = 0;  // index p
  int kernel = 0;  // index u
  int64_t stride = 1, dilation = 1, low = 0;
  int input_dim = 0;  // flat dimension of the input operand
};

// result[n.., a.., o.., p..] =
//   sum(c.., u..) input[n.., a.., c.., window] * filter[a.., o.., c.., u..],
// in any order of dimensions, the input read as 0 outside.
struct Convolution {
  int input = 0, filter = 1;                       // operands
  std::vector<int> batch, groups, outputs, inner;  // n, a, o, c
  std::vector<Window> windows;                     // at least one
};
absl::optional<Convolution> MatchConvolution(const Definition& definition);

// No reduction; a view if the body is one unguarded read of bare distinct indices that covers the
// operand: then the result is the operand with permuted flat dimensions. view[d] is the flat
// dimension of the operand that flat dimension d of the result is, -1 for a dimension of extent 1
// that is none.
bool IsMap(const Definition& definition);
absl::optional<std::vector<int>> MatchView(const Definition& definition);

// For each operand: whether every read of it is unguarded and at bare, distinct indices that
// include all output indices in some order (an operand of full size of an elementwise definition).
std::vector<bool> FullSizeOperands(const Definition& definition);

// Operations of the ranges: the number of points times the functions and reductions at each; reads,
// conditions and casts are free. Of indices tied by an equality the longest is not counted.
int64_t Flops(const Definition& definition, const std::vector<Interval>& ranges);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_STRUCTURE_H_
