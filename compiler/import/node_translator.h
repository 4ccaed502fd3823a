// Translates the nodes of a file into a graph, by whatever knows them: a description with the
// operator's own name, a cache of --cache, or the row of the name table.
#ifndef YUBA_COMPILER_IMPORT_NODE_TRANSLATOR_H_
#define YUBA_COMPILER_IMPORT_NODE_TRANSLATOR_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/translate/node.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/language/library.h"

namespace yuba::onnx {

class NodeTranslator {
 public:
  // All references must outlive it. `model` has the nodes, `folder` is the model's.
  NodeTranslator(const ::onnx::ModelProto& model, int64_t opset, const std::string& folder,
                 const OperatorLibrary& library, OnnxGraph& graph)
      : model_(model), opset_(opset), folder_(folder), library_(library), graph_(graph) {}

  // Translates the node at `position` of the file, whose operands are translated. The operator must
  // be supported (CheckSupported). The error names the node, its operator and the opset.
  absl::Status Translate(const ::onnx::NodeProto& node, int position);

  // Whether the last error is that planning does not know which nodes inside of a node run.
  bool unknown() const { return unknown_; }

 private:
  absl::Status TranslateInside(const ::onnx::NodeProto& node);
  void TranslateByRow(NodeContext& context);

  const ::onnx::ModelProto& model_;
  const int64_t opset_;
  const std::string& folder_;
  const OperatorLibrary& library_;
  OnnxGraph& graph_;
  int64_t inside_ = 0;  // nodes inside of nodes that were translated
  bool unknown_ = false;
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_NODE_TRANSLATOR_H_
