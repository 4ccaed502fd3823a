// The graph as the file has it, checked and put in order: what translation may rely on.
#ifndef YUBA_COMPILER_IMPORT_FILE_FILE_GRAPH_H_
#define YUBA_COMPILER_IMPORT_FILE_FILE_GRAPH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

struct FileGraph {
  // Those that an output needs, each after what it reads: depth first from the outputs, whatever
  // their order in the file.
  std::vector<int> nodes;
  std::map<std::string, const ::onnx::TensorProto*> initializers;
  std::vector<const ::onnx::ValueInfoProto*> inputs;  // that no initializer backs
};

// Errors: a name that is given twice, a value that nothing gives, a cycle; sparse initializers.
absl::StatusOr<FileGraph> OrderFileGraph(const ::onnx::GraphProto& graph);

// "'conv1' (Conv)" or "number 7 (Conv, makes 'y')": what messages call a node.
std::string NodeLabel(const ::onnx::NodeProto& node, int position);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FILE_FILE_GRAPH_H_
