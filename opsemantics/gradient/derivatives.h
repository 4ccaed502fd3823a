// Derivatives of the functions of bodies.
#ifndef YUBA_OPSEMANTICS_GRADIENT_DERIVATIVES_H_
#define YUBA_OPSEMANTICS_GRADIENT_DERIVATIVES_H_

#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

// Whether the function has a derivative by arguments of floats, perhaps one that is 0 everywhere.
bool HasDerivative(Function function);

// The adjoints of the call's arguments, given that of the call: adjoint * (d call / d argument),
// one for each argument; null where it is 0. The function must have a derivative.
//
// Example: of x / y they are adjoint / y and -(adjoint * (x / y) / y).
std::vector<ExprPtr> ArgumentAdjoints(const ExprPtr& call, const ExprPtr& adjoint);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_GRADIENT_DERIVATIVES_H_
