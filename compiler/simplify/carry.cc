// Pairs of a state and its next value become one tensor: CarryStates of simplify.h.
#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <utility>

#include "compiler/simplify/simplify.h"
#include "opsemantics/base/check.h"
#include "opsemantics/definition/names.h"

namespace yuba::compiler {
namespace {

// Which nodes must come after which. `Graph` has no edge for "reads the old value, so must come
// before the new one is written"; here it is one of two kinds of edges.
class Successors {
 public:
  explicit Successors(const Graph& graph) : after_(graph.nodes.size()) {
    for (const Tensor& tensor : graph.tensors) {
      if (tensor.producer < 0) continue;
      for (const NodeId reader : tensor.consumers) Add(tensor.producer, reader);
    }
  }

  void Add(NodeId before, NodeId after) { after_[before].push_back(after); }
  void AddNode() { after_.emplace_back(); }

  // Whether one of `targets` must come after `node`.
  bool AnyAfter(NodeId node, const std::vector<NodeId>& targets) const {
    std::vector<bool> seen(after_.size(), false);
    std::vector<NodeId> pending = {node};
    seen[node] = true;
    while (!pending.empty()) {
      const NodeId here = pending.back();
      pending.pop_back();
      for (const NodeId next : after_[here]) {
        if (seen[next]) continue;
        seen[next] = true;
        pending.push_back(next);
      }
    }
    return std::any_of(targets.begin(), targets.end(),
                       [&](NodeId target) { return target != node && seen[target]; });
  }

  // The nodes in an order that keeps to all edges; of those that may come next always the least.
  std::vector<NodeId> Order() const {
    std::vector<int> waits(after_.size(), 0);
    for (const std::vector<NodeId>& later : after_) {
      for (const NodeId node : later) ++waits[node];
    }
    std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
    for (size_t n = 0; n < waits.size(); ++n) {
      if (waits[n] == 0) ready.push(static_cast<NodeId>(n));
    }
    std::vector<NodeId> order;
    while (!ready.empty()) {
      order.push_back(ready.top());
      ready.pop();
      for (const NodeId node : after_[order.back()]) {
        if (--waits[node] == 0) ready.push(node);
      }
    }
    YUBA_CHECK(order.size() == after_.size()) << "the nodes wait for each other in a circle";
    return order;
  }

 private:
  std::vector<std::vector<NodeId>> after_;  // [node]: with repetitions
};

class Carrier {
 public:
  explicit Carrier(Graph& graph) : graph_(graph), successors_(graph) {}

  void Carry(const CarriedPair& pair) {
    Tensor& state = graph_.tensors[pair.state];
    const Tensor& next = graph_.tensors[pair.next];
    YUBA_CHECK(IsStored(state.kind)) << state.name;
    YUBA_CHECK(next.producer >= 0 && next.output && state.type == next.type) << next.name;
    state.next_name = pair.next_name.empty() ? next.name : pair.next_name;
    NodeId writer = next.producer;
    // Readers of other entries run before all of this one, or after all of it.
    std::vector<NodeId> readers;
    const int entry = graph_.nodes[writer].entry;
    for (const NodeId reader : state.consumers) {
      if (graph_.nodes[reader].entry == entry) readers.push_back(reader);
    }
    const bool in_place = !successors_.AnyAfter(writer, readers);
    if (in_place) {
      written_.push_back({writer, pair.state});
      replaced_.push_back({pair.next, pair.state});
    } else {
      writer = AddCopy(pair);
    }
    for (const NodeId reader : readers) {
      if (reader != writer) successors_.Add(reader, writer);
    }
    ReplaceOutput(pair);
  }

  // Puts the new results and operands in, and the nodes into their order. Returns the tensors that
  // are gone.
  std::vector<TensorId> Finish() {
    std::vector<TensorId> stands_for(graph_.tensors.size()), gone;
    for (size_t t = 0; t < stands_for.size(); ++t) stands_for[t] = static_cast<TensorId>(t);
    for (const auto& [next, state] : replaced_) {
      stands_for[next] = state;
      gone.push_back(next);
    }
    for (Node& node : graph_.nodes) {
      for (TensorId& operand : node.operands) operand = stands_for[operand];
    }
    for (const auto& [writer, state] : written_) graph_.nodes[writer].result = state;
    std::vector<Node> nodes;
    for (const NodeId node : successors_.Order()) nodes.push_back(std::move(graph_.nodes[node]));
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const Node& a, const Node& b) { return a.entry < b.entry; });
    graph_.nodes = std::move(nodes);
    return gone;
  }

 private:
  // The state becomes the output that its next value was. Another entry may have made it one.
  void ReplaceOutput(const CarriedPair& pair) {
    std::vector<TensorId>& outputs = graph_.outputs;
    const auto next = std::find(outputs.begin(), outputs.end(), pair.next);
    if (std::count(outputs.begin(), outputs.end(), pair.state) > 0) {
      outputs.erase(next);
    } else {
      *next = pair.state;
    }
  }

  // Adds the node that copies the next value to the state, and returns it.
  NodeId AddCopy(const CarriedPair& pair) {
    const Tensor& state = graph_.tensors[pair.state];
    const Node& producer = graph_.nodes[graph_.tensors[pair.next].producer];
    Node copy;
    copy.name =
        GraphNames(graph_).Fresh(NameInEntry(graph_.entries, producer.entry, state.name + "/next"));
    copy.op = "carry";
    copy.from = producer.from;
    copy.instance = graph_.nodes.back().instance + 1;
    copy.entry = producer.entry;
    copy.definition = std::make_shared<const Definition>(IdentityOf(state.type, "next"));
    copy.operands = {pair.next};
    copy.result = pair.state;
    const auto id = static_cast<NodeId>(graph_.nodes.size());
    successors_.AddNode();
    successors_.Add(graph_.tensors[pair.next].producer, id);
    graph_.nodes.push_back(std::move(copy));
    return id;
  }

  Graph& graph_;
  Successors successors_;
  std::vector<std::pair<NodeId, TensorId>> written_;     // a node and the state that it writes now
  std::vector<std::pair<TensorId, TensorId>> replaced_;  // a next value and its state
};

// Drops these tensors, which nothing names any more, and numbers the others anew in their order.
void DropTensors(Model& model, const std::vector<TensorId>& gone) {
  Graph& graph = model.graph;
  std::vector<TensorId> number(graph.tensors.size(), 0);
  for (const TensorId tensor : gone) number[tensor] = -1;
  std::vector<Tensor> kept;
  std::map<TensorId, InitialValue> values;
  for (size_t t = 0; t < number.size(); ++t) {
    if (number[t] < 0) continue;
    number[t] = static_cast<TensorId>(kept.size());
    const auto value = model.values.find(static_cast<TensorId>(t));
    if (value != model.values.end()) values[number[t]] = std::move(value->second);
    kept.push_back(std::move(graph.tensors[t]));
  }
  for (Node& node : graph.nodes) {
    for (TensorId& operand : node.operands) operand = number[operand];
    node.result = number[node.result];
  }
  for (TensorId& input : graph.inputs) input = number[input];
  for (TensorId& output : graph.outputs) output = number[output];
  graph.tensors = std::move(kept);
  model.values = std::move(values);
}

}  // namespace

void CarryStates(Model& model, const std::vector<CarriedPair>& pairs) {
  if (pairs.empty()) return;
  // Which of two pairs gets a copy can depend on which comes first: that is the graph's order, not
  // that of their names.
  std::vector<CarriedPair> ordered = pairs;
  std::sort(ordered.begin(), ordered.end(),
            [](const CarriedPair& a, const CarriedPair& b) { return a.next < b.next; });
  Carrier carrier(model.graph);
  for (const CarriedPair& pair : ordered) carrier.Carry(pair);
  DropTensors(model, carrier.Finish());
  Link(model.graph);
  CheckGraph(model.graph);
}

}  // namespace yuba::compiler
