// Linearity: sums that are kept apart may stay so through a body that is linear in them.
#ifndef YUBA_OPSEMANTICS_DEFINITION_LINEAR_H_
#define YUBA_OPSEMANTICS_DEFINITION_LINEAR_H_

#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

// Whether the definition is linear in these operands together: a map or a sum of terms each of
// which has exactly one of them as a factor, with conditions and other factors that read none of
// them. Then the sum of its results for several values of the operands is its result for their sum.
bool IsLinearIn(const Definition& definition, const std::vector<int>& operands);

// Whether the last index can number groups (Definition::partials): one of a reduction, with
// kMostGroups values, that no read, condition or body runs through.
bool NumbersGroups(const Definition& definition);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_LINEAR_H_
