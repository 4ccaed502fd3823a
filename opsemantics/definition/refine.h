// Refinement: the same definition over more flat dimensions, so that more can be cut. Tensors that
// are read elsewhere as factors get these factors here; each index that runs along such a dimension
// is split as the dimension is. The elements and their order in memory do not change.
//
// Example: y[i, j: 768] = x[i, j] + b[j] with dimension 1 of y, dimension 1 of x and dimension 0 of
// b split into (12 64) becomes y[i, j.0: 12, j.1: 64] = x[i, j.0, j.1] + b[j.0, j.1].
#ifndef YUBA_OPSEMANTICS_DEFINITION_REFINE_H_
#define YUBA_OPSEMANTICS_DEFINITION_REFINE_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// For each flat dimension of each operand and of the result, the factors it is split into
// (outermost first, product equal to the extent, which is a CHECK; {n} leaves it whole). An index
// is split where any dimension that it runs along bare is split. Positions, constraints and
// conditions are rewritten: i becomes i.0*64 + i.1, and i + 128 along (12 64) becomes [i.0 + 2,
// i.1]. Dropped are factors of 1 from dimensions of several factors; indices of extent 1, except
// reduction indices of argmax and argmin and those of a window that stays a window; and `else`
// where the read is always inside.
struct Refinement {
  std::vector<std::vector<std::vector<int64_t>>> operands;  // [operand][flat dim] -> factors
  std::vector<std::vector<int64_t>> result;                 // [flat dim] -> factors
};

// The refined definition. Nullopt where it has no core form: dimensions along one index whose
// factors are no chain under division, as (2 6) and (3 4), a split dimension that is read with a
// step or a sum across its factors, or one that an opaque function sees whole.
absl::optional<Definition> TryRefine(const Definition& definition, const Refinement& refinement);

// TryRefine where it is known to succeed (CHECK).
Definition Refine(const Definition& definition, const Refinement& refinement);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_REFINE_H_
