// Refinement: the same definition over more flat dimensions. Each index that runs along a dimension
// is split as the dimension's factors are; memory does not change.
#ifndef YUBA_OPSEMANTICS_DEFINITION_REFINE_H_
#define YUBA_OPSEMANTICS_DEFINITION_REFINE_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// For each flat dimension of each operand and of the result, the factors it is split into
// (outermost first, product equal to the extent; {n} leaves it whole). An index is split where any
// dimension that it runs along bare is split. Positions, constraints and conditions are rewritten:
// i becomes i.0*64 + i.1, and i + 128 along (12 64) becomes [i.0 + 2, i.1]. Factors of 1 are
// dropped from dimensions of several factors, and so are indices of extent 1 (not of argmax and
// argmin, not those of a window that stays one) and `else` where a read is always inside.
struct Refinement {
  std::vector<std::vector<std::vector<int64_t>>> operands;  // [operand][flat dim] -> factors
  std::vector<std::vector<int64_t>> result;                 // [flat dim] -> factors
};

// Nullopt where the splits cannot be said: dimensions along one index whose factors are no chain
// under division, or a split dimension that is read with a step or a sum across its factors.
absl::optional<Definition> TryRefine(const Definition& definition, const Refinement& refinement);

// The same where it is known to succeed (CHECK).
Definition Refine(const Definition& definition, const Refinement& refinement);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_REFINE_H_
