// Structure: what kind of computation a definition is, whatever its operator is called and however
// its indices are ordered: a contraction, a map, a view; convolution.h has convolutions and their
// gradients. Library kernels attach to this and to nothing else. A match names indices by their
// positions in Definition::indices and operands by their positions in Definition::operands; nullopt
// means that the definition has another structure.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] is a contraction with left 0, right 1, rows {i},
// columns {j}, inner {k} and no batch.
#ifndef YUBA_OPSEMANTICS_REGIONS_STRUCTURE_H_
#define YUBA_OPSEMANTICS_REGIONS_STRUCTURE_H_

#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// The two reads a and b of sum(..) a * b, under any constraints on indices and none on data; none
// for other structures. A product of small floats may be cast to the type of its sums,
// AccumulatorType: it is computed in that type, so the cast changes nothing.
absl::Span<const ExprPtr> FactorsOf(const Definition& definition);
inline bool IsSumOfProducts(const Definition& definition) { return !FactorsOf(definition).empty(); }

// result[b.., m.., n..] = sum(k..) left[b.., m.., k..] * right[b.., k.., n..], in any order of the
// dimensions; each read is of bare indices (dimensions of extent 1 may be read at 0), without
// conditions. `left` is the operand whose own indices come first in the result.
struct Contraction {
  int left = 0;                                  // operand
  int right = 1;                                 // operand; may equal left
  std::vector<int> batch, rows, columns, inner;  // b, m, n, k
};
absl::optional<Contraction> MatchContraction(const Definition& definition);

// Whether there is no reduction: each element of the result is the body at its indices.
bool IsMap(const Definition& definition);

// A view is a map whose body is one read, without `else`, at bare distinct indices that cover the
// operand: the result is the operand with its flat dimensions permuted, and nothing is computed.
// view[d] is the flat dimension of the operand that flat dimension d of the result is; -1 for a
// dimension of extent 1 that the operand does not have.
absl::optional<std::vector<int>> MatchView(const Definition& definition);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_STRUCTURE_H_
