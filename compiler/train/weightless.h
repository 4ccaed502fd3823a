// Steps whose loss has no weight, as where every label is one that the loss ignores: they change
// nothing.
#ifndef YUBA_COMPILER_TRAIN_WEIGHTLESS_H_
#define YUBA_COMPILER_TRAIN_WEIGHTLESS_H_

#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// Makes the definition, a map that gives the next value of a state, keep the state where the scalar
// `weight` is 0. `operands` are the definition's, before and after.
//
// Example: t'[] = t[] + 1 becomes t'[] = if weight[] == 0 then t[] else t[] + 1.
void KeepWhereWeightless(const Graph& graph, TensorId state, TensorId weight,
                         std::vector<TensorId>& operands, Definition& definition);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_WEIGHTLESS_H_
