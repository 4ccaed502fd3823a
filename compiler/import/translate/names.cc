// NodeContext, the part that gives names of the file to tensors and sequences, and translates nodes
// inside of the node.
#include <utility>

#include "compiler/import/translate/node.h"
#include "opsemantics/base/check.h"

namespace yuba::onnx {

bool NodeContext::IsSequence(int i) const {
  return i < proto_.input_size() && graph_.sequences.count(proto_.input(i)) > 0;
}

std::vector<int> NodeContext::Sequence(int i) {
  sequences_.insert(i);
  if (IsSequence(i)) return graph_.sequences.at(proto_.input(i));
  Fail("operand ", i, " is no sequence");
  return {};
}

void NodeContext::CheckSequences() {
  for (int i = 0; i < InputCount(); ++i) {
    if (IsSequence(i) && sequences_.count(i) == 0)
      Fail("operand ", i, " is a sequence of tensors, and must be a tensor");
  }
}

void NodeContext::SetSequence(int i, std::vector<int> elements) {
  if (failed() || !HasOutput(i)) return;
  SetNamed(proto_.output(i), NamedValue{-1, std::move(elements)});
}

absl::optional<NamedValue> NodeContext::Named(const std::string& name) const {
  const auto sequence = graph_.sequences.find(name);
  if (sequence != graph_.sequences.end()) return NamedValue{-1, sequence->second};
  const auto tensor = graph_.by_name.find(name);
  if (tensor != graph_.by_name.end()) return NamedValue{tensor->second, absl::nullopt};
  return absl::nullopt;
}

void NodeContext::SetNamed(const std::string& name, const NamedValue& value) {
  if (failed()) return;
  if (Named(name).has_value()) return Fail("'", name, "' is the name of another value too");
  if (value.sequence.has_value()) {
    graph_.sequences[name] = *value.sequence;
  } else {
    graph_.by_name[name] = value.tensor;
  }
}

void NodeContext::Inside(const ::onnx::NodeProto& node) {
  YUBA_CHECK(translate_inside_ != nullptr);
  if (!failed()) Check(translate_inside_(node));
}

}  // namespace yuba::onnx
