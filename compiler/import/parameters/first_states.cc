#include "compiler/import/parameters/first_states.h"

#include <set>

#include "compiler/import/parameters/operand_words.h"

namespace yuba::onnx {

void MarkFirstStates(const ::onnx::GraphProto& graph, const FileGraph& order,
                     std::map<std::string, StoredRole>& roles) {
  std::set<std::string> begin, others;
  for (const int n : order.nodes) {
    const ::onnx::NodeProto& node = graph.node(n);
    for (int i = 0; i < node.input_size(); ++i) {
      const bool begins = WordOfOperand(node.op_type(), i) == OperandWord::kFirstState ||
                          BeginsWhatRunsChange(node, i);
      (begins ? begin : others).insert(node.input(i));
    }
    for (const std::string& name : ReadsInside(node)) others.insert(name);
  }
  for (auto& [name, role] : roles) {
    if (begin.count(name) > 0 && others.count(name) == 0) role.first_state = true;
  }
}

}  // namespace yuba::onnx
