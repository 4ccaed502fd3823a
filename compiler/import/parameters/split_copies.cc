#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/import/parameters/float_tensor.h"
#include "compiler/import/parameters/operand_words.h"
#include "compiler/import/parameters/restoring.h"

namespace yuba::onnx {
namespace {

// Results of a module's own nodes are paths with slashes, "/a/Identity_output_0".
bool MayBeParameter(const std::string& name) {
  return !absl::StartsWith(name, "/") && !absl::StrContains(name, "::");
}

}  // namespace

std::vector<std::string> SplitCopies(::onnx::GraphProto& graph) {
  std::map<std::string, int> stored;  // initializers by name: their positions
  for (int t = 0; t < graph.initializer_size(); ++t) stored[graph.initializer(t).name()] = t;
  std::set<std::string> outputs;
  for (const ::onnx::ValueInfoProto& output : graph.output()) outputs.insert(output.name());
  std::vector<std::string> names;
  for (int n = 0; n < graph.node_size(); ++n) {
    const ::onnx::NodeProto& node = graph.node(n);
    if (!IsCopy(node.op_type()) || node.input_size() != 1 || node.output_size() != 1) continue;
    const auto of = stored.find(node.input(0));
    if (of == stored.end() || !MayBeParameter(node.output(0)) || outputs.count(node.output(0)) > 0)
      continue;
    ::onnx::TensorProto copy = graph.initializer(of->second);
    if (!HoldsFloats(copy)) continue;
    names.push_back(node.output(0));
    copy.set_name(node.output(0));
    *graph.add_initializer() = std::move(copy);
    graph.mutable_node()->DeleteSubrange(n--, 1);
  }
  return names;
}

}  // namespace yuba::onnx
