// Refinement: the same definition over more flat dimensions. Each index that runs along a dimension
// is split as the dimension's factors are; memory does not change.
#ifndef YUBA_OPSEMANTICS_REFINE_H_
#define YUBA_OPSEMANTICS_REFINE_H_

#include <cstdint>
#include <vector>

#include "opsemantics/core.h"

namespace yuba {

// For each flat dimension of each operand and of the result, the factors it is split into (outermost
// first, product equal to the extent; {n} leaves it whole). An index is split like the dimensions that
// it runs along bare; all of them must agree (CHECK). Indices and dimensions that are read otherwise
// must stay whole or are rewritten as sums: i becomes i.0 * 64 + i.1.
// Factors of 1 in a dimension of several factors are dropped, and so are indices of extent 1.
struct Refinement {
  std::vector<std::vector<std::vector<int64_t>>> operands;  // [operand][flat dim] -> factors
  std::vector<std::vector<int64_t>> result;                 // [flat dim] -> factors
};
Definition Refine(const Definition& definition, const Refinement& refinement);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REFINE_H_
