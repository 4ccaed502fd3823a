// PutInCanonicalOrder and HashOfGraph of simplify.h.

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/stable_hash.h"

namespace yuba::compiler {
namespace {

// The nodes that outputs need, in post-order from the outputs, operands in the order of the node.
std::vector<NodeId> PostOrder(const Graph& graph) {
  std::vector<NodeId> order;
  std::vector<bool> entered(graph.nodes.size(), false);
  struct Frame {
    NodeId node;
    size_t next = 0;
  };
  for (const TensorId output : graph.outputs) {
    std::vector<Frame> stack;
    const auto enter = [&](TensorId tensor) {
      const NodeId producer = graph.tensors[tensor].producer;
      if (producer < 0 || entered[producer]) return;
      entered[producer] = true;
      stack.push_back({producer});
    };
    enter(output);
    while (!stack.empty()) {
      const NodeId node = stack.back().node;
      if (stack.back().next < graph.nodes[node].operands.size()) {
        enter(graph.nodes[node].operands[stack.back().next++]);
      } else {
        order.push_back(node);
        stack.pop_back();
      }
    }
  }
  return order;
}

// [tensor]: its new number, -1 where it is dropped. Inputs come first, then tensors as the nodes
// name them. `kept` gets the old numbers in the new order.
std::vector<TensorId> NumberTensors(const Graph& graph, const std::vector<NodeId>& order,
                                    std::vector<TensorId>& kept) {
  std::vector<TensorId> number(graph.tensors.size(), -1);
  const auto keep = [&](TensorId tensor) {
    if (number[tensor] >= 0) return;
    number[tensor] = static_cast<TensorId>(kept.size());
    kept.push_back(tensor);
  };
  for (const TensorId input : graph.inputs) keep(input);
  for (const NodeId node : order) {
    for (const TensorId operand : graph.nodes[node].operands) keep(operand);
    keep(graph.nodes[node].result);
  }
  for (const TensorId output : graph.outputs) keep(output);
  return number;
}

}  // namespace

void PutInCanonicalOrder(Model& model) {
  Graph& graph = model.graph;
  Link(graph);
  const std::vector<NodeId> order = PostOrder(graph);
  std::vector<TensorId> kept;
  const std::vector<TensorId> number = NumberTensors(graph, order, kept);
  Graph result;
  result.entries = graph.entries;
  result.no_batch = graph.no_batch;
  std::map<TensorId, InitialValue> values;
  for (const TensorId tensor : kept) {
    const auto value = model.values.find(tensor);
    if (value != model.values.end())
      values[static_cast<TensorId>(result.tensors.size())] = std::move(value->second);
    result.tensors.push_back(std::move(graph.tensors[tensor]));
  }
  int instances = 0;
  std::map<int, int> instance_of;
  for (const NodeId node : order) {
    result.nodes.push_back(std::move(graph.nodes[node]));
    Node& moved = result.nodes.back();
    for (TensorId& operand : moved.operands) operand = number[operand];
    moved.result = number[moved.result];
    const auto [instance, inserted] = instance_of.emplace(moved.instance, instances);
    if (inserted) ++instances;
    moved.instance = instance->second;
  }
  for (const TensorId input : graph.inputs) result.inputs.push_back(number[input]);
  for (const TensorId output : graph.outputs) result.outputs.push_back(number[output]);
  graph = std::move(result);
  model.values = std::move(values);
  Link(graph);
  CheckGraph(graph);
}

std::string HashOfGraph(const Graph& graph) {
  std::string text;
  for (const Tensor& tensor : graph.tensors) {
    absl::StrAppend(&text, Name(tensor.kind), " ", Name(tensor.type.type));
    for (const auto& dim : tensor.dims) absl::StrAppend(&text, "(", absl::StrJoin(dim, " "), ")");
    absl::StrAppend(&text, "\n");
  }
  for (const Node& node : graph.nodes) {
    Definition definition = *node.definition;
    definition.name = "y";  // names are for people
    for (size_t i = 0; i < definition.indices.size(); ++i)
      definition.indices[i].name = absl::StrCat("i", i);
    absl::StrAppend(&text, ToString(definition), " of ", absl::StrJoin(node.operands, " "),
                    " gives ", node.result, "\n");
  }
  absl::StrAppend(&text, "in ", absl::StrJoin(graph.inputs, " "), " out ",
                  absl::StrJoin(graph.outputs, " "));
  for (size_t entry = 0; entry < graph.entries.size() && graph.entries.size() > 1; ++entry) {
    absl::StrAppend(&text, " entry ", NodesOf(graph, static_cast<int>(entry)).begin, " times ",
                    graph.entries[entry].times);
  }
  return absl::StrCat(absl::Hex(StableHash(text, 1), absl::kZeroPad16),
                      absl::Hex(StableHash(text, 2), absl::kZeroPad16));
}

}  // namespace yuba::compiler
