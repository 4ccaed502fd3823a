// The plan file, yuba-plan/2 (JSON): written and read. docs/plan_file.md gives its fields.
#ifndef YUBA_SEARCH_FILE_PLAN_FILE_H_
#define YUBA_SEARCH_FILE_PLAN_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/plan/plan.h"

namespace yuba::search {

// What the search does not know but the file says.
struct DeviceMemory {
  int64_t peak = 0, weights = 0, activations = 0, state = 0, buffers = 0;  // bytes
  std::string at;     // the node at which the peak is reached
  int64_t arena = 0;  // bytes that the program allocates, which a limit holds for: slots, aligned
};
struct PlanNotes {
  std::string graph_file;                              // for people; nothing is concluded from it
  std::string graph_hash;                              // canonical: structure, shapes, attributes
  std::string library_hash;                            // of the operator descriptions
  std::string version;                                 // of the tool
  std::map<std::string, std::vector<int64_t>> inputs;  // name -> shape
  std::map<std::string, std::string> options;  // as given: "devices": "8", "dim.N": "4", ...
  std::vector<DeviceMemory> memory;            // by device
  std::vector<std::string> kernels;            // by node: "onednn", "loops"
  std::vector<std::string> collectives;        // by row of MovesOf
};

std::string WritePlan(const Graph& graph, const Plan& plan, const PlanNotes& notes);

// A plan read without its graph, for `show`.
struct PlanFile {
  PlanNotes notes;
  struct TensorRow {
    std::string name, kind;
    ElementType type = ElementType::kF32;
    std::vector<std::vector<int64_t>> dims;
    Sharding sharding;
  };
  struct NodeRow {
    std::string name, op, from, kernel;
    std::vector<std::string> reads;    // names of the tensors that it reads
    std::vector<std::string> indices;  // names of the sharding indices, parallel to axes
    std::vector<AxisList> axes;
  };
  struct TransferRow {
    std::string tensor, node, kind, collective, why;
    std::vector<std::string> over;
    int64_t bytes = 0;
  };
  // A copy that is cut otherwise than its tensor: live from before its first reader to its last.
  struct CopyRow {
    std::string copy, tensor, sharding;
    std::string first, last;  // readers, in the order of the program
    int64_t readers = 0;
    int64_t bytes = 0;  // on the device that has most of it
  };
  // An accumulator whose partials are kept by several groups of devices: live from before the first
  // node that makes one to the accumulator.
  struct AccumulatorRow {
    std::string accumulator, sharding, over;  // `over`: the axes that number the groups
    std::string first, last;                  // nodes, in the order of the program
    int64_t partials = 0;
    int64_t bytes = 0;  // of all partials, on the device that has most
  };
  Mesh mesh;
  Space space;
  std::string search, stopped;  // as in Plan
  bool replayed = false;        // "
  PlanCost cost;
  int64_t claimed_bytes = 0;
  int64_t lower_bound = 0;
  Proof proof;
  std::vector<TensorRow> tensors;
  std::vector<NodeRow> nodes;
  std::vector<TransferRow> transfers;
  std::vector<CopyRow> copies;
  // Its graph has them, whether they have groups or not.
  std::vector<AccumulatorRow> accumulators;
};
// Errors name the line or field, what was found and what is expected. Never crashes on any bytes.
absl::StatusOr<PlanFile> ReadPlan(absl::string_view json);

// The graph of that plan: `bare` with the copies, accumulators and partials that it may use.
Graph SharedGraph(const Graph& bare, const PlanFile& file);

// The plan of this graph; refuses a file of another graph, library or version with the first tensor
// or node that differs.
absl::StatusOr<Plan> AttachPlan(const Graph& graph, const PlanFile& file,
                                const PlanNotes& expected);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_FILE_PLAN_FILE_H_
