// The simplest definition with the values of a sum under constraints, so that what a derived
// definition computes is seen: a map where each element has one term at most, a contraction where
// it is one.
//
// Example: y[i: 4] = x[i + 2] of x: [8] gives dx[q: 8] = sum(i where i + 2 == q) dy[i], which is
// dx[q: 8] = dy[q - 2] else 0.
#ifndef YUBA_OPSEMANTICS_GRADIENT_SOLVE_H_
#define YUBA_OPSEMANTICS_GRADIENT_SOLVE_H_

#include "opsemantics/definition/definition.h"

namespace yuba {

// Of a sum, whose body is 0 where operand `factor` is 0:
// - a choice between a term and 0 by indices becomes constraints,
// - an equality with one reduction index, whose coefficient is 1 or -1, is solved for it,
// - reduction indices that can have one value alone and constraints that always hold vanish,
// - without a reduction index it becomes a map, with a choice for the constraints that are left,
// - reads that could leave their operand get `else 0`; where the body is sums and products of reads
//   alone, this is all that is left of a constraint that keeps a read of `factor` inside.
void SolveSum(Definition& definition, int factor);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_GRADIENT_SOLVE_H_
