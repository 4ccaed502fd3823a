// The plan: the sharding of each tensor, the partition of each node, what that costs, and the
// proof.
#ifndef YUBA_SEARCH_PLAN_PLAN_H_
#define YUBA_SEARCH_PLAN_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"
#include "search/plan/memory_price.h"

namespace yuba::search {

// Bytes moved in a step, by what moves (payload, never padding).
struct PlanCost {
  int64_t weight = 0;      // parameters and constants gathered
  int64_t activation = 0;  // inputs and activations gathered (windows aside) or reduced whole
  int64_t partial = 0;     // partial results reduced and combined
  int64_t halo = 0;        // gathered because a window reaches beyond the shard
  int64_t bytes() const { return weight + activation + partial + halo; }
};

// A price that the dual puts on the shardings of a tensor where a node reads or makes it: for each
// grid (the numbers of parts of its dimensions, in lexicographic order), in bytes; where memory has
// prices, in their units (memory_price.h).
struct DualMessage {
  TensorId tensor = -1;
  NodeId node = -1;
  std::vector<int64_t> values;
  friend bool operator==(const DualMessage& a, const DualMessage& b) {
    return a.tensor == b.tensor && a.node == b.node && a.values == b.values;
  }
};

struct Proof {
  // "elimination", "pruned", "grids", "dual"; "none": only the trivial bound.
  std::string kind = "none";
  std::vector<int> order;  // all but dual: the order of the problem's variables
  // pruned elimination, grids: how many of them, from the first, are eliminated plainly. Of the
  // others only what can be part of a plan cheaper than the bound is kept, and nothing is left.
  // Grids: before that, grids that are in no such plan are dropped, by `sweep`.
  int plain = 0;
  bool HasPlain() const { return kind == "pruned" || kind == "grids"; }
  // dual: those that are not listed are 0. The bound is the sum over the nodes of the cheapest
  // strategy, each operand and result being cut at the best price, and over the tensors of the
  // least that their messages add up to: 0 at best.
  std::vector<DualMessage> messages;
  // elimination and dual, where there is a limit on memory: what is in use is added to the costs at
  // these prices, and the limit at all of them is taken off the least sum.
  std::vector<MemoryPrice> prices;
  std::vector<int> sweep;  // grids: the order in which the relaxation to grids is eliminated
};

// What a plan was allowed to express.
struct Space {
  std::string nesting = "free";  // or "level"
  bool factors = true;
  int copies = 0;
  bool accumulators = false, partials = false;  // whether the graph has them
  std::string replicate = "none";               // or "auto": stored tensors may be replicated
  int64_t memory = 0;                           // bytes a device that a plan may need; 0: no limit
};

// What a search has found for a graph: a choice for each element, and a bound of all plans of the
// space with what proves it. A Plan is this with its cost, for a stated mesh and space.
struct Candidate {
  Choices choices;
  int64_t lower_bound = 0;  // bytes a step
  Proof proof;
};

constexpr char kTimeLimit[] = "time limit";
constexpr char kInterrupt[] = "interrupt";

struct Plan {
  Mesh mesh;
  Space space;
  std::string search;             // "default", "recursive"
  std::vector<Sharding> tensors;  // by TensorId: flat dimensions
  std::vector<Partition> nodes;   // by NodeId: indices of the definition
  PlanCost cost;
  int64_t lower_bound = 0;  // bytes; no plan of the space is cheaper
  Proof proof;
  // Whether the checker, which shares nothing with the solver, has found the bound proved.
  bool replayed = false;
  // What ended the search before its time, kTimeLimit or kInterrupt: the plan is the best by then.
  // Empty: nothing did.
  std::string stopped;
};

enum class MoveKind : uint8_t { kGather, kReduce };

// One row of the plan's communication: all that one node gathers of one tensor, or reduces.
struct Move {
  MoveKind kind = MoveKind::kGather;
  NodeId node = -1;
  TensorId tensor = -1;
  int64_t bytes = 0;
  bool halo = false;     // an activation gathered along a window or shift that the node shardings
  bool partial = false;  // a reduction of partials
};

// The rows with bytes > 0, in program order (a node's gathers, then its reduction). This is the
// price of a plan: PlanCost is their sum.
std::vector<Move> MovesOf(const Graph& graph, const Plan& plan);
// The part of `cost` to which the bytes of a move belong.
int64_t& BytesOf(PlanCost& cost, const Graph& graph, const Move& move);
PlanCost CostOf(const Graph& graph, const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_PLAN_H_
