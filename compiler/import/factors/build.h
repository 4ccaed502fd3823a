// From the flow to the graph: definitions refined to the unified factors, reshapes where a slot and
// its value differ.
#ifndef YUBA_COMPILER_IMPORT_FACTORS_BUILD_H_
#define YUBA_COMPILER_IMPORT_FACTORS_BUILD_H_

#include "compiler/import/factors/unify.h"
#include "compiler/import/onnx_graph.h"

namespace yuba::onnx {

// Fills in model.graph, values and notes.
void BuildGraph(const OnnxGraph& graph, const Factors& factors, compiler::Model& model);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FACTORS_BUILD_H_
