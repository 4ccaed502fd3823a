// How the largest operands of a definition lie in memory, where dimensions are row-major: what else
// it reads, as the mean of each row, is little and costs little in any order.
#ifndef YUBA_OPSEMANTICS_REGIONS_LARGEST_OPERANDS_H_
#define YUBA_OPSEMANTICS_REGIONS_LARGEST_OPERANDS_H_

#include "opsemantics/definition/definition.h"

namespace yuba {

// Whether one of the operands with the most elements that the body reads has elements side by side
// along the index: it has a coefficient of 1 in the innermost dimension of more than one element.
//
// Example: sum(n) dy[n, c] * r[n] has them along c, and not along n.
bool LargestLieAlong(const Definition& definition, int index);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_LARGEST_OPERANDS_H_
