// The plan file, yuba-plan/2: JSON, written and read. The README of this room lists its fields.
//
// WritePlan makes the text of a plan and its notes. ReadPlan parses any bytes into a PlanFile,
// which needs no graph: enough for `yuba show`. AttachPlan turns a PlanFile into the Plan of a
// graph and refuses one that is of another graph. Example, the row of a tensor f32[12, 96] with the
// sharding [12, 96/ba]:
//   {"name": "y", "type": "f32", "shape": [12, 96], "kind": "activation",
//    "dims": [[{"size": 12, "axes": []}], [{"size": 96, "axes": ["b", "a"]}]],
//    "partial": "", "shard": [12, 24]}
#ifndef YUBA_SEARCH_FILE_PLAN_FILE_H_
#define YUBA_SEARCH_FILE_PLAN_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/plan/plan.h"

namespace yuba::search {

// What one device needs for the program, in bytes.
struct DeviceMemory {
  int64_t peak = 0;  // the most in use at any time
  // What is in use then: their sum is `peak`.
  int64_t weights = 0, activations = 0, state = 0, buffers = 0;
  std::string at;     // the node at which the peak is reached
  int64_t arena = 0;  // allocated, with slots aligned: what a limit on memory holds for
};
// What one run of an entry takes on the plan's machine, predicted from the program with all that
// overlaps and waits (runtime/model), in nanoseconds. `kernels`, `exchanges`, `waiting` (for other
// devices) and `starting` (for the host) are those of a device, as a mean over all, and add up to
// the step where the run time has one stream.
struct PredictedRun {
  std::string entry;                                              // its name in the program
  int64_t step = 0;                                               // as `yuba run` runs it
  int64_t kernels = 0, exchanges = 0, waiting = 0, starting = 0;  // of `step`
  // With --sums ordered and with --sums fast, which `step` is not; the step where it has no choice.
  int64_t ordered = 0, fast = 0;
};
// What the file says beyond the plan, from the caller.
struct PlanNotes {
  std::string graph_file;                              // for people; nothing is concluded from it
  std::string graph_hash;                              // canonical: structure, shapes, attributes
  std::string library_hash;                            // of the operator descriptions
  std::string version;                                 // of the tool
  std::map<std::string, std::vector<int64_t>> inputs;  // name -> shape
  // As given: "devices": "8", "dim.N": "4", ... Pins are those of the plan's space.
  std::map<std::string, std::string> options;
  bool machine_found = false;           // the plan's machine was found by its GPUs: nobody named it
  std::vector<DeviceMemory> memory;     // [device]
  std::vector<PredictedRun> predicted;  // [entry]; empty where no machine is known
  std::string unpredicted;              // why nothing is predicted though a machine is known
  std::vector<std::string> kernels;     // [node]: "onednn", "loops"
  std::vector<std::string> collectives;  // [row of MovesOf]: "all_gather"; "" where none
  std::vector<int64_t> levels;  // [mesh axis]: bytes that it adds, of a plan nested by level; else
                                // empty
};

// The text of the file. `plan` must be of `graph`; lists of the notes may be shorter than the
// graph, and then "" is written.
std::string WritePlan(const Graph& graph, const Plan& plan, const PlanNotes& notes);

// A plan read without its graph. Names stand for tensors and nodes.
struct PlanFile {
  PlanNotes notes;
  struct TensorRow {
    std::string name, kind;
    ElementType type = ElementType::kF32;
    std::vector<std::vector<int64_t>> dims;  // [dimension]: its factors
    Sharding sharding;                       // by flat dimension
  };
  struct NodeRow {
    std::string name, op, from, kernel;
    std::string writes;              // the tensor that it computes: its name, but of a carried one
    std::vector<std::string> reads;  // names of the tensors that it reads
    std::vector<std::string> indices;  // names of the indices that it cuts
    std::vector<AxisList> axes;        // parallel to `indices`: the axes that cut each
    // Parallel to `indices`: the dimension along which each runs, first of the result, then of each
    // tensor in `reads`; -1: along none. Empty where the file does not say.
    std::vector<std::vector<int>> along;
  };
  struct TransferRow {
    std::string tensor, node;
    std::string kind;                            // "gather" or "reduce"
    std::string collective, why;                 // as in PlanNotes; MoveReasons of explain.h
    CostKind counts_as = CostKind::kActivation;  // the field of PlanCost that has its bytes
    std::vector<std::string> over;               // names of the mesh axes that it crosses
    int64_t bytes = 0;  // into all devices together, in all runs of its entry
  };
  // A copy whose sharding is not its tensor's. It is live from before its first reader to its last.
  struct CopyRow {
    std::string copy, tensor;
    std::string sharding;     // of the copy, as text
    std::string first, last;  // names of readers, in the order of the program
    int64_t readers = 0;
    int64_t bytes = 0;  // on the device that has most of it
  };
  // A node that reads partials in several groups of devices, an accumulator or another. The
  // partials are live from before the first node that writes some of them to this node; programs
  // hold fewer of them (opsemantics/definition/short_sums.h).
  struct AccumulatorRow {
    std::string accumulator;  // the name of the node
    std::string sharding;     // of the first partials that it reads, as text
    std::string over;         // the axes that number the groups
    std::string first, last;  // names of nodes, in the order of the program
    int64_t partials = 0;     // how many operands are partials
    int64_t bytes = 0;        // of all its partials, on the device that has most
  };
  Mesh mesh;
  Space space;
  std::string search, stopped;  // as in Plan
  bool replayed = false;        // as in Plan
  absl::optional<Unpinned> unpinned;
  PlanCost cost;
  PlanTime time;              // as in Plan
  int64_t claimed_bytes = 0;  // what the file says `cost` adds up to
  int64_t lower_bound = 0;    // 0 also where no bound is known
  int64_t asked_bound = 0;    // as in Plan
  Proof proof;
  int64_t value() const {  // as in Plan
    return space.objective.IsTime() ? time.all() : cost.bytes();
  }
  // Whether the file has a bound with a proof of a kind that is replayed no more: here it has none.
  bool proof_forgotten = false;
  std::vector<TensorRow> tensors;
  std::vector<NodeRow> nodes;
  std::vector<EntryBytes> entries;  // empty: the one entry, "step"
  std::vector<TransferRow> transfers;
  std::vector<CopyRow> copies;
  std::vector<AccumulatorRow> accumulators;  // only those with more than one group
};
// Never crashes, whatever the bytes. InvalidArgument where they are no plan file: it names the line
// or field, what was found and what is expected.
absl::StatusOr<PlanFile> ReadPlan(absl::string_view json);

// The graph that the plan is of: `bare` with the copies, accumulators and partials of its space.
Graph SharedGraph(const Graph& bare, const PlanFile& file);

// The plan of this graph, which is SharedGraph's. InvalidArgument where the file is of another
// graph, with the first tensor or node that differs, or of another library or version; a hash or
// version that is empty in `expected` is not compared. FailedPrecondition where a sharding or
// partition is impossible, or the costs do not add up. Whether shardings go as far as they can, and
// whether cost and bound are true, is not looked at: that is `yuba check` (search/check/).
absl::StatusOr<Plan> AttachPlan(const Graph& graph, const PlanFile& file,
                                const PlanNotes& expected);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_FILE_PLAN_FILE_H_
