// Derivatives of the functions of bodies.
#ifndef YUBA_OPSEMANTICS_GRADIENT_DERIVATIVES_H_
#define YUBA_OPSEMANTICS_GRADIENT_DERIVATIVES_H_

#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

// Whether the function has a derivative by arguments of floats, perhaps one that is 0 everywhere.
bool HasDerivative(Function function);

// The adjoints of the call's arguments, given that of the call: adjoint * (d call / d argument),
// one for each argument; null where it is 0. The function must have a derivative. `value` has the
// call's value: the call itself, or a read of a tensor that holds it, which then stands in the
// place of the call, and of what a literal was the bound of.
//
// Example: of x / y they are adjoint / y and -(adjoint * value / y), of max(x, 0) with another
// value than the call the first is adjoint where 0 < value: it is above 0 where x is.
std::vector<ExprPtr> ArgumentAdjoints(const ExprPtr& call, const ExprPtr& value,
                                      const ExprPtr& adjoint);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_GRADIENT_DERIVATIVES_H_
