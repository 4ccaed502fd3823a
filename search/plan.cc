#include "search/plan.h"

#include "opsemantics/base/check.h"
#include "opsemantics/base/transfers.h"

namespace yuba {
namespace {

std::vector<Box> Shards(const Graph& graph, const Plan& plan, TensorId tensor) {
  std::vector<Box> shards;
  for (int device = 0; device < plan.mesh.devices(); ++device) {
    shards.push_back(
        ShardBox(plan.mesh, plan.tensors[tensor], graph.tensors[tensor].type.dims, device));
  }
  return shards;
}

// Whether a read of the operand runs a window, or a shift, along an index that the node cuts: then no
// cut of the tensor is aligned with the need, and what is fetched is a halo.
bool ReadsBeyond(const Definition& definition, int operand, const Cut& cut) {
  bool beyond = false;
  Walk(definition.body, [&](const Expr& expr) {
    if (expr.kind != Expr::kRead || expr.operand != operand) return;
    for (const Affine& position : expr.position) {
      if (position.BareIndex() >= 0) continue;
      for (const auto& term : position.terms) beyond |= !cut.axes[term.first].empty();
    }
  });
  return beyond;
}

bool IsWeight(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensors[SourceOf(graph, id)];
  return tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
}

Move FetchOf(const Graph& graph, const Plan& plan, NodeId n, size_t operand, const NodeBoxes& boxes) {
  const Node& node = graph.nodes[n];
  Move move;
  move.node = n;
  move.tensor = node.operands[operand];
  const Tensor& tensor = graph.tensors[move.tensor];
  std::vector<Box> need;
  for (const std::vector<Box>& needs : boxes.needs) need.push_back(needs[operand]);
  move.bytes = FetchVolume(Shards(graph, plan, move.tensor), need) * ByteSize(tensor.type.type);
  move.halo = !IsWeight(graph, move.tensor) &&
              ReadsBeyond(*node.definition, static_cast<int>(operand), plan.nodes[n]);
  return move;
}

Move DeliveryOf(const Graph& graph, const Plan& plan, NodeId n, const NodeBoxes& boxes) {
  Move move;
  move.kind = MoveKind::kDeliver;
  move.node = n;
  move.tensor = graph.nodes[n].result;
  ElementType type = graph.tensors[move.tensor].type.type;
  move.partial = boxes.parts > 1;
  Makers makers = {boxes.made, boxes.part, boxes.parts};
  move.bytes = DeliverVolume(makers, Shards(graph, plan, move.tensor)) *
               ByteSize(move.partial ? AccumulatorType(type) : type);
  return move;
}

}  // namespace

std::vector<Move> MovesOf(const Graph& graph, const Plan& plan) {
  YUBA_CHECK(plan.tensors.size() == graph.tensors.size());
  YUBA_CHECK(plan.nodes.size() == graph.nodes.size());
  std::vector<Move> moves;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    NodeBoxes boxes = AnalyzeNode(*node.definition, plan.nodes[n], plan.mesh);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      Move move = FetchOf(graph, plan, static_cast<NodeId>(n), o, boxes);
      if (move.bytes > 0) moves.push_back(move);
    }
    Move move = DeliveryOf(graph, plan, static_cast<NodeId>(n), boxes);
    if (move.bytes > 0) moves.push_back(move);
  }
  return moves;
}

int64_t& BytesOf(PlanCost& cost, const Graph& graph, const Move& move) {
  if (move.partial) return cost.partial;
  if (move.halo) return cost.halo;
  return IsWeight(graph, move.tensor) ? cost.weight : cost.activation;
}

PlanCost CostOf(const Graph& graph, const Plan& plan) {
  PlanCost cost;
  for (const Move& move : MovesOf(graph, plan)) BytesOf(cost, graph, move) += move.bytes;
  return cost;
}

}  // namespace yuba
