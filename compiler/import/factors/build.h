// From the OnnxGraph to the graph of definitions: each definition is refined to the unified factors
// (one index for each factor), and a reshape node is put where the factors of a slot and of its
// value differ.
//
// Example: channels in 2 groups of 6, then in 3 groups of 4, do not nest: the value between has the
// factors (2 6), the second operator's slot (3 4), and a reshape from one to the other is added.
#ifndef YUBA_COMPILER_IMPORT_FACTORS_BUILD_H_
#define YUBA_COMPILER_IMPORT_FACTORS_BUILD_H_

#include <vector>

#include "compiler/import/factors/unify.h"
#include "compiler/import/onnx_graph.h"

namespace yuba::onnx {

// Fills in model.graph (linked, not simplified), model.values, and in model.notes a line for each
// reshape. `factors` must be UnifyFactors of `graph`. Names of tensors are unique. Returns the
// tensor of each value; -1 where no use and no output has it.
std::vector<TensorId> BuildGraph(const OnnxGraph& graph, const Factors& factors,
                                 compiler::Model& model);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FACTORS_BUILD_H_
