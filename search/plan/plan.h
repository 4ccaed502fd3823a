// The plan: the sharding of each tensor, the partition of each node, what they move, and the proof
// of how far from the least that is.
//
// MovesOf and CostOf price a plan from boxes alone, by the definition of
// opsemantics/base/transfers.h; nothing of the solver is in them. Example: y = x w on 2 devices,
// with x as [4/a, 8], w as [8/a, 6], y as [4/a, 6] and the first index of the product cut over a.
// Each device reads all of w and has half of it, so there is one row: a gather of w by the node, of
// 2 * 24 elements, 192 bytes of f32, all of them `weight`.
#ifndef YUBA_SEARCH_PLAN_PLAN_H_
#define YUBA_SEARCH_PLAN_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"
#include "search/plan/demand.h"
#include "search/plan/memory_price.h"
#include "search/plan/objective.h"
#include "search/plan/words.h"

namespace yuba::search {

// Bytes moved in a step, over all devices, by what moves (payload, never padding). Of a graph with
// several entries: in all runs of all entries, each as often as it says.
struct PlanCost {
  int64_t weight = 0;      // parameters and constants gathered
  int64_t activation = 0;  // inputs and activations gathered (halos aside); results moved whole
  int64_t partial = 0;     // partials moved, to be combined
  int64_t halo = 0;        // gathered because a window reaches beyond the shard
  int64_t bytes() const { return weight + activation + partial + halo; }
};

// Nanoseconds of a step on the objective's machine, each exchange and each kernel by itself
// (objective.h); 0 where no machine is known. Of a graph with several entries as PlanCost.
struct PlanTime {
  int64_t exchanges = 0;
  int64_t kernels = 0;
  int64_t all() const { return exchanges + kernels; }
};

// One message of the dual bound: the prices that it puts on the grids of a tensor where one node
// reads or writes the tensor.
struct DualMessage {
  TensorId tensor = -1;
  NodeId node = -1;
  // For each grid of the tensor (grid.h), in lexicographic order. In units of the objective; in
  // those of memory_price.h where the proof has prices on memory.
  std::vector<int64_t> values;
  friend bool operator==(const DualMessage& a, const DualMessage& b) {
    return a.tensor == b.tensor && a.node == b.node && a.values == b.values;
  }
};

// What the checker replays to recompute a lower bound without a solver (search/THEORY.md).
struct Proof {
  ProofKind kind = ProofKind::kNone;
  // Elimination: the elements in the order in which their variables are eliminated.
  std::vector<int> order;
  // Dual: the messages; a pair of tensor and node that is not listed has 0 everywhere. The bound is
  // a sum of two parts. For each node: the cheapest partition, with each operand and the result at
  // the grid that is cheapest after its message; a carried tensor that the node reads and computes
  // has one grid and one message for both. For each tensor: the least that its messages add up to,
  // 0 at best.
  std::vector<DualMessage> messages;
  // Elimination and dual with a limit on memory: memory in use is added to the costs at these
  // prices, and the limit at all prices is subtracted from the least sum. By ascending time.
  std::vector<MemoryPrice> prices;
};

// What a plan was allowed to express, and what it was to make small: the lower bound holds for all
// plans of this space.
struct Space {
  Objective objective;
  Nesting nesting = Nesting::kFree;  // or kLevel: the axes of an extent in the order of the mesh
  bool factors = true;               // dimensions are split into factors (768 as 12 x 64)
  bool copies = false;               // readers of a tensor share a copy (search/rewrite/copies.h)
  bool accumulators = false, partials = false;  // whether the graph has them
  Replicate replicate = Replicate::kNone;       // whether stored tensors may be replicated
  int64_t memory = 0;                           // bytes a device that a plan may need; 0: no limit
  PinnedElements pins;                          // what plans must have; empty: there are no pins
  std::vector<std::string> pin_texts;           // the pins as people wrote them
};

// What a search of the same space without its pins has found, for what the pins cost.
struct Unpinned {
  int64_t value = 0;        // of its best plan, in units of the objective
  int64_t lower_bound = 0;  // of all its plans; no proof of it is kept
  friend bool operator==(const Unpinned& a, const Unpinned& b) {
    return a.value == b.value && a.lower_bound == b.lower_bound;
  }
};

// What a search has found for a graph: a choice for each element, and a lower bound of all plans of
// the space with its proof. A Plan is this with its cost, for a stated mesh and space.
struct Candidate {
  Choices choices;
  int64_t lower_bound = 0;  // of the objective
  Proof proof;
};

// Values of Plan::stopped.
constexpr char kTimeLimit[] = "time limit";
constexpr char kInterrupt[] = "interrupt";

struct Plan {
  Mesh mesh;
  Space space;
  std::string search;  // "default", "recursive" or the name of a baseline
  Choices tensors;     // [TensorId]: by flat dimension
  Choices nodes;       // [NodeId]: by index of the definition
  PlanCost cost;
  PlanTime time;
  int64_t lower_bound = 0;  // in units of the objective; no plan of the space has a smaller value
  // No plan of all spaces that the search was asked to look at (SearchSpaces of search/search.h)
  // has a smaller value. At most lower_bound; 0 also where nothing is known, as one of
  // them was not searched to the end. No proof of it is kept.
  int64_t asked_bound = 0;
  Proof proof;
  // Whether the checker, which shares nothing with the solver, has found the bound proved.
  bool replayed = false;
  absl::optional<Unpinned> unpinned;  // only with pins, where there was time to search for it
  // What ended the search early, kTimeLimit or kInterrupt: the plan is the best found by then.
  // Empty: the search ran to its end.
  std::string stopped;

  // What the search made small: bytes moved in a step, or nanoseconds.
  int64_t value() const { return space.objective.IsTime() ? time.all() : cost.bytes(); }
};

enum class MoveKind : uint8_t { kGather, kReduce };

// One row of the plan's communication: all that one node gathers of one tensor, or reduces into its
// result.
struct Move {
  MoveKind kind = MoveKind::kGather;
  NodeId node = -1;
  TensorId tensor = -1;     // an operand of the node, or its result
  int64_t bytes = 0;        // into all devices together, in one run
  int64_t nanoseconds = 0;  // of one run, where a machine is known
  bool halo = false;  // an activation, gathered along a window or shift whose index the node cuts
  bool partial = false;  // a reduction that moves partials
};

// The rows with bytes > 0, in program order (a node's gathers in the order of its operands, then
// its reduction). Their sum, each as often as its node runs, is PlanCost, the price of the plan.
// The plan must be of this graph.
std::vector<Move> MovesOf(const Graph& graph, const Plan& plan);
// [move]: the field of PlanCost to which its bytes belong. The moves must be of this graph.
std::vector<CostKind> CostKindsOf(const Graph& graph, const std::vector<Move>& moves);
// What a run of an entry moves.
struct EntryBytes {
  std::string name;
  int64_t times = 1;
  int64_t bytes = 0;  // in one run
};
// [entry]: from MovesOf.
std::vector<EntryBytes> BytesByEntry(const Graph& graph, const Plan& plan);
// The sum of MovesOf, by kind, each as often as its node runs; ignores plan.cost.
PlanCost CostOf(const Graph& graph, const Plan& plan);
// The times of MovesOf and of the nodes' kernels (kernel_time.h), each as often as its node runs.
PlanTime TimeOf(const Graph& graph, const Plan& plan);
// Sets cost and time.
void Price(const Graph& graph, Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_PLAN_H_
