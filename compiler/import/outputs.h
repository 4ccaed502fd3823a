// What an entry gives back: outputs, and the next values of states.
#ifndef YUBA_COMPILER_IMPORT_OUTPUTS_H_
#define YUBA_COMPILER_IMPORT_OUTPUTS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/translate/node.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

// Why there is no value of this name: "output 1 of node 'r' (Relu), which ...".
std::string WhyNotMade(const ::onnx::GraphProto& graph, const std::string& name);

// Makes each output of an entry a tensor of its own that a node computes: where it is an input, a
// constant or the same value as another output, a copy is added. An output whose type, rank or
// extents the file declares otherwise is a mistake. Mistakes are recorded in
// `context`.
void FinishOutputs(const ::onnx::GraphProto& proto, NodeContext& context, OnnxGraph& graph);

// Fills in graph.carried from --state. Outputs are values of their own by now, the last ones of the
// graph.
absl::Status AddCarried(const ::onnx::GraphProto& proto,
                        const std::map<std::string, std::string>& pairs, OnnxGraph& graph);

// Carries running statistics that --state does not carry already: each next value becomes an output
// and a carried pair.
void CarryStatistics(OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_OUTPUTS_H_
