// What `partition` and `show` print of a plan, from the plan file alone: no model is needed.
// Functions that print tables return whole lines for the terminal. Byte counts are of all devices
// together and of one step, or, where a plan has several entries, of all their runs (SpanText).
#ifndef YUBA_TOOLS_REPORT_PLAN_REPORT_H_
#define YUBA_TOOLS_REPORT_PLAN_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"
#include "opsemantics/sharding/mesh_text.h"
#include "search/file/plan_file.h"

namespace yuba::tools {

// One row of the table of nodes. Nodes stand in one row where their names differ in numbers only,
// they have one partition, and their tensors are cut alike.
struct NodeGroup {
  std::string name;  // "layer3.*.conv2" where several nodes share the row and their names differ so
  int count = 0;     // of the nodes
  // The operator, the partition ("r/a s.1/bc"), and the shardings of output and first weight.
  std::string op, partition, output, weight;
  std::string split;                  // of the output, without sizes and axes: "dim 0 in 8"
  int64_t gathered = 0, reduced = 0;  // bytes, of all nodes of the group
  int64_t weights = 0;                // of those gathered, bytes of weights
  std::string first;                  // the name of the first node
  int64_t bytes() const { return gathered + reduced; }
};
// With `fold` false each node has a row of its own.
std::vector<NodeGroup> GroupNodes(const search::PlanFile& plan, bool fold);

// A stored tensor that is not cut over every axis.
struct ReplicatedTensor {
  std::string name, sharding;
  int64_t bytes = 0;     // of the whole tensor, once
  int64_t parts = 1;     // different parts that it is stored in
  int64_t replicas = 1;  // how many devices hold each element
  int64_t most = 1;      // parts that its dimensions allow
};
std::vector<ReplicatedTensor> Replicated(const search::PlanFile& plan);

// The sharding of a tensor, "[96/ab, 64]", and the partition of a node, "r/a s.1/bc".
std::string ShardingText(const search::PlanFile& plan, const search::PlanFile::TensorRow& row);
std::string PartitionText(const search::PlanFile& plan, const search::PlanFile::NodeRow& row);
int64_t WholeBytes(const search::PlanFile::TensorRow& row);  // uncut
int64_t ShardBytes(const search::PlanFile& plan,
                   const search::PlanFile::TensorRow& row);  // the largest device's

// What the plan was allowed to express: "free nesting, factors, replicas, within 60.0 MB a device".
std::string SpaceText(const search::Space& space);

// "gap 0", "gap 1.35 %": how far the bound is below the bytes, as a share of them.
std::string GapText(int64_t value, int64_t lower_bound);
// A value of the objective: bytes or a duration.
std::string ValueText(search::ObjectiveKind objective, int64_t value);

// "weights +93.0 MB, partial sums −7.7 MB": what `there` moves more or less than `here`, by kind;
// "" where all kinds are equal.
std::string CostChangeText(const search::PlanCost& here, const search::PlanCost& there);

// What a search knows of how far its plan may be from the best one of all that was asked for:
//   "lower bound 28.7 kB, gap 0": the bound holds for all of it;
//   "lower bound 2.9 MB, gap 20.1 % (no proof of it is kept; in its space alone 3.5 MB)";
//   "lower bound in its space alone 3.5 MB; no bound is known for all spaces, so no gap": one of
//   them was not searched to the end.
// `value`: of the plan; the bounds as in Plan.
std::string BoundText(search::ObjectiveKind objective, int64_t value, int64_t lower_bound,
                      int64_t asked_bound);
// What a plan file proves of that, the bound of the plan's own space, and what it only says of all
// spaces: "lower bound in its space 3.5 MB, gap 0; over all spaces 2.9 MB, gap 20.1 %, says the
// search, whose proof of that is not in the file". Or that no bound is known, or that nobody has
// checked it yet.
std::string BoundText(const search::PlanFile& plan);

// What the bytes of a plan or graph with or without several entries are of: "in all", "a step".
inline const char* SpanText(bool entries) { return entries ? "in all" : "a step"; }
// "prefill 1.2 MB, decode 16 times 30 kB": the bytes of one run of each entry; "" where there is
// only one.
std::string EntriesText(const search::PlanFile& plan);

// What the pins of a plan cost, which has this value and this bound: "at least 1.2 MB and at
// most 3.4 MB a step (without them the best plan found moves 30.0 MB, and none less than 29.1 MB)".
// `span`: SpanText.
std::string PinsCostText(search::ObjectiveKind objective, int64_t value, int64_t lower_bound,
                         const search::Unpinned& unpinned, const char* span);

// The lines TIME of the summary: the predicted step of the program on the plan's machine, and the
// plan's time by the objective. `no_machine`: as in Alternatives.
std::string TimeText(const search::PlanFile& plan, const std::string& no_machine = "");
// The same in nanoseconds; null where the plan has no machine.
nlohmann::ordered_json TimeJson(const search::PlanFile& plan);

// What is printed where a plan has no bound; a plan that costs nothing needs none. `asked`: the
// search asked for, which looks for none unless it is the default one.
std::string NoBoundText(const std::string& asked, int64_t value);
// Said of a bound that no checker has replayed yet (Plan::replayed).
inline constexpr char kNotReplayed[] = "bound not yet checked: yuba check";

// That the search was cut short, and by what; "" where it was not.
std::string StoppedText(const search::PlanFile& plan);

// "12 x linear": the nodes of a group, by their operator.
std::string NodesText(const NodeGroup& group);

// "33 other nodes move nothing".
std::string QuietText(int count);

// What is stored, gathered and summed, on two lines that begin with `indent`: these words stand in
// the summary and in the tables.
std::string WordsOfTransfers(const std::string& indent);

// What is known beside the plan, for the lines MEMORY, REPLICATED and TIME.
struct Alternatives {
  std::string copies;  // a sentence on the same plan without its copies; "": it shares none
  // Of a plan that replicates nothing on purpose: the bytes that a step would move more if the
  // tensors in fewer parts than they allow were in as many as they can.
  int64_t bytes_of_most_parts = 0;
  std::string replicas;  // a sentence on what `--replicate auto` may give; "": nothing is known
  // Of a plan without a machine: why none was found. "": there are no GPUs, or none was looked for.
  std::string no_machine;
};
// The summary of `partition`: MOVED, MEMORY, REPLICATED, and the table of what moves most.
std::string SummaryText(const search::PlanFile& plan, const Alternatives& alternatives);

// The tables of `show`. NodeTableText leaves out nodes that move nothing unless `all`.
std::string NodeTableText(const search::PlanFile& plan, bool all);
// What the indices are that the shown nodes split, a row for each; "" where the file does not say.
std::string IndexLegendText(const search::PlanFile& plan, bool all);
std::string LargestTransfersText(const search::PlanFile& plan, size_t count);
std::string TransfersText(const search::PlanFile& plan);
std::string MemoryText(const search::PlanFile& plan);
// Said where memory is shown without the model.
inline constexpr char kModelForArena[] =
    "When each buffer lives, and where in the arena, needs the model: yuba show MODEL PLAN with "
    "--arena or --html";
// The `count` largest copies; "" where there are none.
std::string CopiesText(const search::PlanFile& plan, size_t count);
// The `count` largest accumulators whose partials several groups of devices keep; "" where there
// are none.
std::string AccumulatorsText(const search::PlanFile& plan, size_t count);
std::string KernelsText(const search::PlanFile& plan);
std::string TensorText(const search::PlanFile& plan, const search::PlanFile::TensorRow& row);
std::string NodeText(const search::PlanFile& plan, const search::PlanFile::NodeRow& row);
// A user's error, with both models, where the plans are of different ones: their inputs and stored
// tensors differ.
absl::Status CheckSameModel(const search::PlanFile& plan, const search::PlanFile& other);
// What `other` asks for, moves and stores otherwise than `plan`: equal rows are one, and with `all`
// no row is left out. The plans must be of one model.
std::string DiffText(const search::PlanFile& plan, const search::PlanFile& other, bool all);

// What the tables of `show` print, as numbers: docs/plan-format.md lists the fields.
nlohmann::ordered_json PlanJson(const search::PlanFile& plan);

std::string PlanDot(const search::PlanFile& plan);  // a Graphviz graph

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_REPORT_PLAN_REPORT_H_
