#include "search/plan/plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/transfers.h"
#include "opsemantics/definition/known_definitions.h"
#include "opsemantics/regions/value_tables.h"
#include "search/plan/kernel_time.h"
#include "search/plan/use_boxes.h"
#include "search/plan/weights.h"

namespace yuba::search {
namespace {

// More bytes of one kind, which a bad plan may move, count as that many: those of all kinds fit 64
// bits together.
constexpr int64_t kMostCounted = int64_t{1} << 60;

// Whether a read of the operand runs a window, or a shift, along an index that the node cuts: then
// no sharding of the tensor is aligned with what is read, and what is gathered is a halo.
bool ReadsBeyond(const Definition& definition, int operand, const Sharding& sharding) {
  bool beyond = false;
  const auto is_cut = [&sharding](int index) { return !sharding.axes[index].empty(); };
  std::vector<bool> moved(definition.indices.size(), false);  // [index]: a cut table says where
  for (const Constraint& known : KnownConditions(definition)) {
    const std::vector<int>& by = known.table->indices;
    if (std::none_of(by.begin(), by.end(), is_cut)) continue;
    for (const auto& term : known.expression.terms) moved[term.first] = true;
  }
  Walk(definition.body, [&](const Expr& expr) {
    if (expr.kind != Expr::kRead || expr.operand != operand) return;
    for (const Affine& position : expr.position) {
      for (const auto& term : position.terms) beyond |= moved[term.first];
      if (position.BareIndex() >= 0) continue;
      for (const auto& term : position.terms) beyond |= is_cut(term.first);
    }
  });
  return beyond;
}

int64_t& FieldOf(PlanCost& cost, CostKind kind) {
  switch (kind) {
    case CostKind::kWeight: return cost.weight;
    case CostKind::kActivation: return cost.activation;
    case CostKind::kPartial: return cost.partial;
    case CostKind::kHalo: break;
  }
  return cost.halo;
}

// Bytes of a reduction: partials move in the accumulator's type, and what they are combined into
// moves on to the other owners as it is stored.
int64_t ReducedBytes(const Producers& producers, const std::vector<Box>& own, ElementType type) {
  const int64_t all = ReduceVolume(producers, own);
  if (producers.partials == 1) return all * ByteSize(type);
  const int64_t results = GatherVolume(FirstOwnerBoxes(own), own);
  return (all - results) * ByteSize(AccumulatorType(type)) + results * ByteSize(type);
}

// What one node moves.
struct NodeBytes {
  std::vector<int64_t> gathered;  // [operand]
  int64_t reduced = 0;
  bool partial = false;
  std::vector<int64_t> times;  // nanoseconds: of the reduction, then [operand]; empty: not known
};

NodeBytes BytesOfNode(const Graph& graph, const Plan& plan, NodeId n) {
  const Node& node = graph.nodes[n];
  const Definition& definition = *node.definition;
  const NodeBoxes boxes = AnalyzeNode(definition, plan.nodes[n], plan.mesh);
  NodeBytes bytes;
  for (size_t o = 0; o < node.operands.size(); ++o) {
    const GatherBoxes use = GatherBoxesOf(definition, static_cast<int>(o), plan.mesh,
                                          plan.tensors[node.operands[o]], boxes);
    bytes.gathered.push_back(GatherVolume(use.has, use.reads) *
                             ByteSize(definition.operands[o].type));
  }
  bytes.partial = boxes.partials > 1 || definition.partial;
  const ReduceBoxes use = ReduceBoxesOf(definition, plan.mesh, plan.tensors[node.result], boxes);
  bytes.reduced = ReducedBytes(use.producers, use.own, definition.result.type);
  const Objective& objective = plan.space.objective;
  const int uses = objective.machine() == nullptr ? -1 : static_cast<int>(node.operands.size());
  for (int o = -1; o < uses; ++o) {
    const TensorId tensor = o < 0 ? node.result : node.operands[o];
    bytes.times.push_back(
        objective.Exchange(MovedByUse(definition, o, plan.mesh, plan.tensors[tensor], boxes)));
  }
  return bytes;
}

// Nodes of equal definitions and partitions, whose operands and results have equal shardings, move
// the same bytes: each combination is counted once.
class KnownBytes {
 public:
  const NodeBytes& Of(const Graph& graph, const Plan& plan, NodeId n) {
    const Node& node = graph.nodes[n];
    std::vector<std::vector<AxisList>> shardings = {plan.nodes[n].axes,
                                                    plan.tensors[node.result].axes};
    for (TensorId operand : node.operands) shardings.push_back(plan.tensors[operand].axes);
    auto [place, is_new] = known_.emplace(
        std::make_pair(definitions_.NumberOf(*node.definition), shardings), NodeBytes());
    if (is_new) place->second = BytesOfNode(graph, plan, n);
    return place->second;
  }

 private:
  KnownDefinitions definitions_;
  std::map<std::pair<int, std::vector<std::vector<AxisList>>>, NodeBytes> known_;
};

}  // namespace

std::vector<Move> MovesOf(const Graph& graph, const Plan& plan) {
  YUBA_CHECK(plan.tensors.size() == graph.tensors.size());
  YUBA_CHECK(plan.nodes.size() == graph.nodes.size());
  std::vector<Move> moves;
  const std::vector<bool> weights = WeightTensors(graph);
  KnownBytes known;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeId n = static_cast<NodeId>(i);
    const Node& node = graph.nodes[n];
    const NodeBytes& bytes = known.Of(graph, plan, n);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      if (bytes.gathered[o] == 0) continue;
      const TensorId tensor = node.operands[o];
      const bool halo =
          !weights[tensor] && ReadsBeyond(*node.definition, static_cast<int>(o), plan.nodes[n]);
      const int64_t time = bytes.times.empty() ? 0 : bytes.times[1 + o];
      moves.push_back({MoveKind::kGather, n, tensor, bytes.gathered[o], time, halo, false});
    }
    if (bytes.reduced == 0) continue;
    const int64_t time = bytes.times.empty() ? 0 : bytes.times[0];
    moves.push_back({MoveKind::kReduce, n, node.result, bytes.reduced, time, false, bytes.partial});
  }
  return moves;
}

std::vector<CostKind> CostKindsOf(const Graph& graph, const std::vector<Move>& moves) {
  const std::vector<bool> weights = WeightTensors(graph);
  std::vector<CostKind> kinds;
  for (const Move& move : moves) {
    kinds.push_back(move.partial           ? CostKind::kPartial
                    : move.halo            ? CostKind::kHalo
                    : weights[move.tensor] ? CostKind::kWeight
                                           : CostKind::kActivation);
  }
  return kinds;
}

namespace {

PlanCost CostOfMoves(const Graph& graph, const std::vector<Move>& moves) {
  PlanCost cost;
  const std::vector<CostKind> kinds = CostKindsOf(graph, moves);
  for (size_t m = 0; m < moves.size(); ++m) {
    int64_t& field = FieldOf(cost, kinds[m]);
    int64_t bytes = 0;
    if (__builtin_mul_overflow(TimesOf(graph, moves[m].node), moves[m].bytes, &bytes) ||
        __builtin_add_overflow(field, bytes, &field) || field > kMostCounted) {
      field = kMostCounted;
    }
  }
  return cost;
}

PlanTime TimeOfMoves(const Graph& graph, const Plan& plan, const std::vector<Move>& moves) {
  PlanTime time;
  const Objective& objective = plan.space.objective;
  if (objective.machine() == nullptr) return time;
  for (const Move& move : moves) {
    time.exchanges += TimesOf(graph, move.node) * move.nanoseconds;
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeId n = static_cast<NodeId>(i);
    const int64_t kernel = KernelTime(graph, n, GridOf(plan.nodes[n], plan.mesh), objective);
    time.kernels += TimesOf(graph, n) * kernel;
  }
  return time;
}

}  // namespace

std::vector<EntryBytes> BytesByEntry(const Graph& graph, const Plan& plan) {
  std::vector<EntryBytes> entries;
  for (const Entry& entry : graph.entries) entries.push_back({entry.name, entry.times, 0});
  for (const Move& move : MovesOf(graph, plan)) {
    entries[graph.nodes[move.node].entry].bytes += move.bytes;
  }
  return entries;
}

PlanCost CostOf(const Graph& graph, const Plan& plan) {
  return CostOfMoves(graph, MovesOf(graph, plan));
}

PlanTime TimeOf(const Graph& graph, const Plan& plan) {
  if (plan.space.objective.machine() == nullptr) return PlanTime();
  return TimeOfMoves(graph, plan, MovesOf(graph, plan));
}

void Price(const Graph& graph, Plan& plan) {
  const std::vector<Move> moves = MovesOf(graph, plan);
  plan.cost = CostOfMoves(graph, moves);
  plan.time = TimeOfMoves(graph, plan, moves);
}

}  // namespace yuba::search
