// A graph that is an attribute of a node, as a branch of an If or the body of a Loop. Each run of
// it puts its nodes beside the node that has it, under names of their own.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_BODY_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_BODY_H_

#include <set>
#include <string>
#include <vector>

#include "compiler/import/translate/node.h"
#include "onnx/onnx.pb.h"

namespace yuba::onnx {

class Body {
 public:
  // The graph that is the attribute `name` of the node; a mistake where there is none. `node` must
  // outlive the body.
  Body(NodeContext& node, const char* name);

  int inputs() const { return graph_.input_size(); }
  int outputs() const { return graph_.output_size(); }

  // Translates the nodes that its outputs need, with these as its inputs, which must be as many.
  // What the nodes make is called by the node's first output, `run` and its own name, so that runs
  // of different names do not meet. Returns its outputs; as many without a value after a mistake.
  std::vector<NamedValue> Run(const std::vector<NamedValue>& inputs, const std::string& run);

 private:
  void AddStored(const std::string& prefix);

  NodeContext& node_;
  ::onnx::GraphProto graph_;
  std::set<std::string> own_;     // names that it gives
  std::set<std::string> needed_;  // names that its outputs need
};

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_BODY_H_
