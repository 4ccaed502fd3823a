#include "compiler/import/translate/body.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/file/file_graph.h"

namespace yuba::onnx {
namespace {

// Puts `prefix` in front of the names in `own`, also where graphs inside read them.
void Rename(const std::set<std::string>& own, const std::string& prefix, ::onnx::NodeProto& node) {
  const auto rename = [&](std::string& name) {
    if (own.count(name) > 0) name.insert(0, prefix);
  };
  std::for_each(node.mutable_input()->begin(), node.mutable_input()->end(), rename);
  std::for_each(node.mutable_output()->begin(), node.mutable_output()->end(), rename);
  for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
    if (!attribute.has_g()) continue;
    for (::onnx::NodeProto& inner : *attribute.mutable_g()->mutable_node())
      Rename(own, prefix, inner);
    for (::onnx::ValueInfoProto& output : *attribute.mutable_g()->mutable_output())
      rename(*output.mutable_name());
  }
}

bool MakesAny(const ::onnx::NodeProto& node, const std::set<std::string>& names) {
  return std::any_of(node.output().begin(), node.output().end(),
                     [&](const std::string& output) { return names.count(output) > 0; });
}

}  // namespace

Body::Body(NodeContext& node, const char* name) : node_(node) {
  const ::onnx::AttributeProto* attribute = node.Find(name);
  if (attribute == nullptr) node.Fail("attribute '", name, "' is missing");
  if (node.failed()) return;
  graph_ = attribute->g();
  for (const ::onnx::ValueInfoProto& input : graph_.input()) own_.insert(input.name());
  for (const ::onnx::TensorProto& stored : graph_.initializer()) own_.insert(stored.name());
  for (const ::onnx::NodeProto& inner : graph_.node())
    own_.insert(inner.output().begin(), inner.output().end());
  own_.erase("");
  for (const ::onnx::ValueInfoProto& output : graph_.output()) needed_.insert(output.name());
  for (int n = graph_.node_size(); n-- > 0;) {
    const ::onnx::NodeProto& inner = graph_.node(n);
    if (!MakesAny(inner, needed_)) continue;
    const std::vector<std::string> reads = ReadsOf(inner);
    needed_.insert(reads.begin(), reads.end());
  }
}

// What may be a parameter the graph around has by now (parameters/lift_stored.cc); the rest are
// constants, as those of Constant.
void Body::AddStored(const std::string& prefix) {
  for (const ::onnx::TensorProto& stored : graph_.initializer()) {
    if (needed_.count(stored.name()) == 0 || node_.Named(prefix + stored.name()).has_value())
      continue;
    ::onnx::NodeProto constant;
    constant.set_op_type("Constant");
    constant.set_name(prefix + stored.name());
    constant.add_output(prefix + stored.name());
    ::onnx::AttributeProto* value = constant.add_attribute();
    value->set_name("value");
    value->set_type(::onnx::AttributeProto::TENSOR);
    *value->mutable_t() = stored;
    node_.Inside(constant);
  }
}

std::vector<NamedValue> Body::Run(const std::vector<NamedValue>& inputs, const std::string& run) {
  std::vector<NamedValue> results(graph_.output_size());
  const auto& names = node_.proto().output();
  const auto first = std::find_if(names.begin(), names.end(),
                                  [](const std::string& name) { return !name.empty(); });
  const std::string prefix =
      absl::StrCat(first == names.end() ? node_.proto().name() : *first, "/", run, "/");
  for (size_t i = 0; i < inputs.size(); ++i)
    node_.SetNamed(prefix + graph_.input(static_cast<int>(i)).name(), inputs[i]);
  AddStored(prefix);
  for (const ::onnx::NodeProto& inner : graph_.node()) {
    if (node_.failed()) return results;
    if (!MakesAny(inner, needed_)) continue;
    ::onnx::NodeProto copy = inner;
    copy.set_name(prefix + (inner.name().empty() ? inner.op_type() : inner.name()));
    Rename(own_, prefix, copy);
    node_.Inside(copy);
  }
  for (int i = 0; i < graph_.output_size() && !node_.failed(); ++i) {
    const std::string& name = graph_.output(i).name();
    const absl::optional<NamedValue> value =
        node_.Named((own_.count(name) > 0 ? prefix : "") + name);
    if (value.has_value()) {
      results[i] = *value;
    } else {
      node_.Fail("nothing inside of it makes '", name, "'");
    }
  }
  return results;
}

}  // namespace yuba::onnx
