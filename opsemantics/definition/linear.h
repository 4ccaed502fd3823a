// Linearity: partials of a sum may stay unreduced through a definition that is linear in them. If
// z = z1 + z2 and y = z v, then y = z1 v + z2 v: two groups of devices that hold z1 and z2 compute
// the partials of y, and z is never added up. Both functions read the definition alone and are
// sound: where they cannot tell, they say no.
#ifndef YUBA_OPSEMANTICS_DEFINITION_LINEAR_H_
#define YUBA_OPSEMANTICS_DEFINITION_LINEAR_H_

#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

// Whether the definition is linear in these operands together: a map or a sum of terms each of
// which has exactly one of them as a factor, with conditions and other factors that read none of
// them. Then the sum of its results for several values of the operands is its result for their sum.
bool IsLinearIn(const Definition& definition, const std::vector<int>& operands);

// Whether the last index can number groups (Definition::partial_operands): it is a reduction index
// of extent kMostGroups that no read, no condition and no body names.
bool NumbersGroups(const Definition& definition);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_LINEAR_H_
