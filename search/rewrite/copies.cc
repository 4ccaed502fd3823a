#include "search/rewrite/copies.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/names.h"

namespace yuba::search {
namespace {

// The readers of the tensor, ascending, in groups that read the same value of it in the same entry:
// of a carried tensor two for each entry, those of its value before and those of its value after.
std::vector<std::vector<NodeId>> ReadersByValue(const Graph& graph, TensorId tensor) {
  std::map<std::pair<int, NodeId>, std::vector<NodeId>> readers;  // by entry and producer
  for (const NodeId reader : graph.tensors[tensor].consumers) {
    readers[{graph.nodes[reader].entry, ProducerFor(graph, tensor, reader)}].push_back(reader);
  }
  std::vector<std::vector<NodeId>> groups;
  for (auto& [value, group] : readers) groups.push_back(std::move(group));
  return groups;
}

class Copier {
 public:
  explicit Copier(const Graph& graph) : graph_(graph), result_(graph), names_(graph) {
    result_.copies = true;
  }

  Graph Run() {
    std::vector<std::vector<Node>> before(
        graph_.nodes.size());  // [node]: the copy nodes to put before it, its first reader
    for (TensorId id = 0; id < static_cast<TensorId>(graph_.tensors.size()); ++id) {
      const Tensor& tensor = graph_.tensors[id];
      const std::vector<int64_t>& dims = tensor.type.dims;
      const bool can_be_cut =
          std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d > 1; });
      if (!can_be_cut || tensor.consumers.size() < 2) continue;
      for (const std::vector<NodeId>& readers : ReadersByValue(graph_, id)) {
        if (readers.size() > 1) before[readers[0]].push_back(Copy(id, readers));
      }
    }
    std::vector<Node> nodes;
    for (size_t n = 0; n < before.size(); ++n) {
      for (Node& copy : before[n]) nodes.push_back(std::move(copy));
      nodes.push_back(std::move(result_.nodes[n]));
    }
    result_.nodes = std::move(nodes);
    Link(result_);
    CheckGraph(result_);
    return std::move(result_);
  }

 private:
  // Adds the copy's tensor, which `readers` read from now on; returns its node.
  Node Copy(TensorId id, const std::vector<NodeId>& readers) {
    Tensor tensor = graph_.tensors[id];
    tensor.name = names_.Fresh(absl::StrCat("copy(", tensor.name, ")"));
    tensor.kind = TensorKind::kCopy;
    tensor.output = false;
    const TensorId copy = static_cast<TensorId>(result_.tensors.size());
    for (NodeId reader : readers) {
      std::vector<TensorId>& operands = result_.nodes[reader].operands;
      std::replace(operands.begin(), operands.end(), id, copy);
    }
    Node node;
    node.name = tensor.name;
    node.op = "copy";
    node.from = graph_.nodes[readers[0]].from;
    node.instance = graph_.nodes[readers[0]].instance;
    node.entry = graph_.nodes[readers[0]].entry;
    auto known = std::find_if(identities_.begin(), identities_.end(), [&](const auto& definition) {
      return definition->result == tensor.type;
    });
    if (known == identities_.end()) {
      known = identities_.insert(
          known, std::make_shared<const Definition>(IdentityOf(tensor.type, "copy")));
    }
    node.definition = *known;
    node.operands = {id};
    node.result = copy;
    result_.tensors.push_back(std::move(tensor));
    return node;
  }

  const Graph& graph_;
  Graph result_;
  GraphNames names_;
  std::vector<std::shared_ptr<const Definition>> identities_;
};

}  // namespace

Graph WithCopies(const Graph& graph) {
  YUBA_CHECK(!graph.copies) << "a graph's copies are made once";
  return Copier(graph).Run();
}

Uncopied WithoutCopies(const Graph& graph) {
  Uncopied result;
  result.graph.entries = graph.entries;
  result.graph.no_batch = graph.no_batch;
  result.graph.inputs = graph.inputs;
  std::vector<TensorId> number(graph.tensors.size(), -1);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].kind == TensorKind::kCopy) continue;
    number[t] = static_cast<TensorId>(result.tensors.size());
    result.tensors.push_back(static_cast<TensorId>(t));
    result.graph.tensors.push_back(graph.tensors[t]);
  }
  for (TensorId& input : result.graph.inputs) input = number[input];
  for (const TensorId output : graph.outputs) result.graph.outputs.push_back(number[output]);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node node = graph.nodes[n];
    if (IsCopy(graph, node)) continue;
    for (TensorId& operand : node.operands) operand = number[SourceOf(graph, operand)];
    node.result = number[node.result];
    result.nodes.push_back(static_cast<NodeId>(n));
    result.graph.nodes.push_back(std::move(node));
  }
  Link(result.graph);
  return result;
}

Choices ChoicesWithCopies(const Graph& graph, const Uncopied& without, const Choices& choices) {
  const size_t tensors = graph.tensors.size();
  Choices all(tensors + graph.nodes.size());
  for (size_t t = 0; t < without.tensors.size(); ++t) all[without.tensors[t]] = choices[t];
  for (size_t n = 0; n < without.nodes.size(); ++n) {
    all[tensors + without.nodes[n]] = choices[without.tensors.size() + n];
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (IsCopy(graph, node)) all[tensors + n] = all[node.result] = all[node.operands[0]];
  }
  return all;
}

}  // namespace yuba::search
