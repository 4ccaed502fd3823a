// The operations of a definition at one point, and which of them take longer than others (Extra,
// opsemantics/machine/machine.h). A term that is used twice is computed once.
//
// Example: exp(x[i, j]) * sqrt(y[i]) along a run of 64 elements j has two functions and a product,
// 3 operations, of which exp is an extra at each point and sqrt one in 64 points.
#ifndef YUBA_OPSEMANTICS_SHARDING_OPERATIONS_H_
#define YUBA_OPSEMANTICS_SHARDING_OPERATIONS_H_

#include "opsemantics/definition/definition.h"
#include "opsemantics/sharding/work.h"

namespace yuba {

// Whether each element is of one term or none, so that nothing is added up.
bool TakesOneTerm(Reducer reducer);

// Whether a value is another one at other values of the index.
bool DependsOn(const ExprPtr& value, int index);

// Sets operations and extras of `work`, whose row is set.
void CountOperations(const Definition& definition, PointWork& work);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_SHARDING_OPERATIONS_H_
