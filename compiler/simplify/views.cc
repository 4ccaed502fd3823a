// RemoveViews of simplify.h.
#include <algorithm>

#include "absl/types/optional.h"
#include "compiler/simplify/compose.h"
#include "compiler/simplify/remove_nodes.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/opaque.h"

namespace yuba::compiler {
namespace {

// How the flat dimensions of one tensor are those of another. [dimension of this tensor]: the same
// dimension of the other tensor, or -1 for a dimension of 1 that the other does not have.
using DimMap = std::vector<int>;

struct View {
  DimMap operand;  // [dimension of the operand]: the result's dimension
  DimMap result;   // [dimension of the result]: the operand's dimension
};

absl::optional<View> MatchPureView(const Definition& definition) {
  if (definition.reducer != Reducer::kNone || definition.operands.size() != 1) return absl::nullopt;
  const Expr& read = *definition.body;
  const TensorType& operand = definition.operands[0];
  if (read.kind != Expr::kRead || !read.args.empty() || operand.type != definition.result.type)
    return absl::nullopt;
  View view;
  view.result.assign(definition.left.size(), -1);
  for (size_t e = 0; e < read.position.size(); ++e) {
    view.operand.push_back(-1);
    if (operand.dims[e] == 1) continue;
    const int index = read.position[e].BareIndex();
    if (index < 0 || definition.indices[index].extent != operand.dims[e]) return absl::nullopt;
    for (size_t d = 0; d < definition.left.size(); ++d) {
      if (definition.left[d].BareIndex() != index) continue;
      if (view.result[d] >= 0) return absl::nullopt;  // a diagonal
      view.result[d] = static_cast<int>(e);
      view.operand[e] = static_cast<int>(d);
    }
    if (view.operand[e] < 0) return absl::nullopt;
  }
  for (size_t d = 0; d < view.result.size(); ++d) {
    if (view.result[d] < 0 && definition.result.dims[d] != 1) return absl::nullopt;  // a repetition
  }
  return view;
}

std::vector<Affine> Mapped(const std::vector<Affine>& position, const DimMap& map) {
  std::vector<Affine> mapped;
  for (const int d : map) mapped.push_back(d < 0 ? ConstantAffine(0) : position[d]);
  return mapped;
}

// Whether the reads of `operand` can be rewritten by `map`. They cannot where a dimension that is
// lost on the way decides whether a read with `else` is inside, or where an opaque function sees
// the operand's dimensions.
bool CanMap(const Definition& definition, int operand, const DimMap& map) {
  if (IsOpaque(definition)) return false;
  std::vector<bool> kept(definition.operands[operand].dims.size(), false);
  for (const int d : map) {
    if (d >= 0) kept[d] = true;
  }
  std::vector<Interval> ranges;
  for (const Index& index : definition.indices) ranges.push_back({0, index.extent});
  bool possible = true;
  VisitReads(definition, operand, [&](const Expr& read) {
    for (size_t d = 0; d < kept.size(); ++d) {
      if (!kept[d] && !read.args.empty() &&
          !(Interval{0, 1}.Contains(Range(read.position[d], ranges))))
        possible = false;
    }
  });
  return possible;
}

class ViewRemover {
 public:
  ViewRemover(Model& model, Gradients gradients)
      : graph_(model.graph), gradients_(gradients), dead_(model.graph.nodes.size(), false) {}

  void Remove() {
    Link(graph_);
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
      if (gradients_ == Gradients::kToCome && EndsGradients(graph_, graph_.nodes[id])) continue;
      const absl::optional<View> view = MatchPureView(*graph_.nodes[id].definition);
      if (!view.has_value()) continue;
      const TensorId operand = graph_.nodes[id].operands[0], result = graph_.nodes[id].result;
      if (graph_.tensors[result].output)
        MakeResult(id, operand, result, *view);
      else
        Redirect(result, operand, view->operand, -1);
    }
    RemoveNodes(dead_, graph_);
  }

 private:
  // Makes the readers of `from` read `to` instead, other than `except` and those that cannot.
  void Redirect(TensorId from, TensorId to, const DimMap& map, NodeId except) {
    const std::vector<NodeId> readers = graph_.tensors[from].consumers;
    for (const NodeId reader : readers) {
      if (reader == except) continue;
      Node& node = graph_.nodes[reader];
      const auto found = std::find(node.operands.begin(), node.operands.end(), from);
      if (found == node.operands.end()) continue;
      const int operand = static_cast<int>(found - node.operands.begin());
      if (!CanMap(*node.definition, operand, map)) continue;
      Definition definition = *node.definition;
      RewriteReads(definition, [&](const Expr& read) -> ExprPtr {
        if (read.operand != operand) return nullptr;
        auto copy = std::make_shared<Expr>(read);
        copy->position = Mapped(read.position, map);
        return copy;
      });
      definition.operands[operand] = graph_.tensors[to].type;
      node.operands[operand] = to;
      NormalizeOperands(node.operands, definition);
      node.definition = std::make_shared<const Definition>(std::move(definition));
      AddConsumer(to, reader);
      RemoveConsumer(from, reader);
    }
  }

  void AddConsumer(TensorId tensor, NodeId node) {
    std::vector<NodeId>& consumers = graph_.tensors[tensor].consumers;
    const auto at = std::lower_bound(consumers.begin(), consumers.end(), node);
    if (at == consumers.end() || *at != node) consumers.insert(at, node);
  }

  void RemoveConsumer(TensorId tensor, NodeId node) {
    std::vector<NodeId>& consumers = graph_.tensors[tensor].consumers;
    consumers.erase(std::remove(consumers.begin(), consumers.end(), node), consumers.end());
  }

  // Makes the operand's producer write the view's result, which is an output of the graph.
  void MakeResult(NodeId id, TensorId operand, TensorId result, const View& view) {
    const Tensor& from = graph_.tensors[operand];
    if (from.output || IsStored(from.kind)) return;  // the graph asks for both: the view copies
    Node& producer = graph_.nodes[from.producer];
    if (IsOpaque(*producer.definition)) return;  // its function writes these dimensions
    for (const NodeId reader : from.consumers) {
      if (reader == id) continue;
      const std::vector<TensorId>& operands = graph_.nodes[reader].operands;
      const int k =
          static_cast<int>(std::find(operands.begin(), operands.end(), operand) - operands.begin());
      if (!CanMap(*graph_.nodes[reader].definition, k, view.result)) return;
    }
    Redirect(operand, result, view.result, id);
    Definition definition = *producer.definition;
    definition.left = Mapped(definition.left, view.result);
    definition.result = graph_.tensors[result].type;
    OrderIndices(definition);
    producer.definition = std::make_shared<const Definition>(std::move(definition));
    producer.name = graph_.tensors[result].name;
    graph_.tensors[result].producer = from.producer;
    producer.result = result;
    dead_[id] = true;
  }

  Graph& graph_;
  const Gradients gradients_;
  std::vector<bool> dead_;
};

}  // namespace

void RemoveViews(Model& model, Gradients gradients) { ViewRemover(model, gradients).Remove(); }

}  // namespace yuba::compiler
