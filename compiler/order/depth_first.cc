#include "compiler/order/depth_first.h"

#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

class Walk {
 public:
  Walk(const Graph& graph, const std::vector<Precedence>& precedences)
      : before_(graph.nodes.size()), state_(graph.nodes.size(), kNew) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const TensorId operand : graph.nodes[n].operands) {
        const NodeId producer = ProducerFor(graph, operand, static_cast<NodeId>(n));
        if (producer >= 0) before_[n].push_back(producer);
      }
    }
    for (const Precedence& edge : precedences) before_[edge.after].push_back(edge.before);
  }

  // Appends `node`, where it is not there yet, behind all that must run before it. False where that
  // leads back to a node that is waiting itself: Last() is then that node.
  bool Append(NodeId node) {
    if (!Enter(node)) return false;
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next < before_[frame.node].size()) {
        if (!Enter(before_[frame.node][frame.next++])) return false;
      } else {
        state_[frame.node] = kDone;
        order_.push_back(frame.node);
        stack_.pop_back();
      }
    }
    return true;
  }

  NodeId Last() const { return last_; }
  std::vector<NodeId> Order() && { return std::move(order_); }

 private:
  enum State { kNew, kWaiting, kDone };
  struct Frame {
    NodeId node;
    size_t next = 0;
  };

  bool Enter(NodeId node) {
    last_ = node;
    if (state_[node] != kNew) return state_[node] == kDone;
    state_[node] = kWaiting;
    stack_.push_back({node});
    return true;
  }

  std::vector<std::vector<NodeId>> before_;  // [node]: what must run before it
  std::vector<State> state_;
  std::vector<Frame> stack_;
  std::vector<NodeId> order_;
  NodeId last_ = -1;
};

}  // namespace

std::vector<Precedence> ReadersBeforeWriters(const Graph& graph) {
  std::vector<Precedence> precedences;
  for (TensorId id = 0; id < static_cast<TensorId>(graph.tensors.size()); ++id) {
    const Tensor& tensor = graph.tensors[id];
    // Copies that are not made, as those of other entries, are read by nobody.
    if (tensor.consumers.empty() || (tensor.kind == TensorKind::kCopy && tensor.producer < 0))
      continue;
    // A copy may lie where its tensor does.
    const Tensor& source = graph.tensors[SourceOf(graph, id)];
    if (!IsCarried(source)) continue;
    for (const NodeId producer : source.producers) {
      for (const NodeId reader : tensor.consumers) {
        const bool same_entry = graph.nodes[reader].entry == graph.nodes[producer].entry;
        if (same_entry && reader < producer) precedences.push_back({reader, producer});
      }
    }
  }
  return precedences;
}

absl::StatusOr<std::vector<NodeId>> DepthFirst(const Graph& graph,
                                               const std::vector<Precedence>& precedences) {
  std::vector<NodeId> roots;
  for (const TensorId output : graph.outputs) {
    const NodeId producer = graph.tensors[output].producer;
    if (producer >= 0) roots.push_back(producer);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) roots.push_back(static_cast<NodeId>(n));
  Walk walk(graph, precedences);
  for (const NodeId root : roots) {
    if (walk.Append(root)) continue;
    return UserError("the node ", graph.nodes[walk.Last()].name,
                     " would have to run before a node that it needs: no order of the nodes keeps ",
                     "the readers of each state before its writer");
  }
  return std::move(walk).Order();
}

}  // namespace yuba::compiler
