#include "search/file/plan_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/regions/along.h"
#include "opsemantics/sharding/mesh_text.h"
#include "search/file/explain.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/partials.h"

namespace yuba::search {
namespace {

using Json = nlohmann::ordered_json;

Json AxisNames(const Mesh& mesh, const AxisList& axes) {
  Json names = Json::array();
  for (uint8_t axis : axes) names.push_back(mesh.axes[axis].name);
  return names;
}

Json OptionsJson(const PlanNotes& notes, const Space& space) {
  std::map<std::string, std::string> options = notes.options;
  for (size_t pin = 0; pin < space.pin_texts.size(); ++pin) {
    options[absl::StrCat("pin.", pin)] = space.pin_texts[pin];
  }
  Json json = Json::object();
  for (const auto& [name, value] : options) json[name] = value;
  return json;
}

Json InputsJson(const PlanNotes& notes) {
  Json inputs = Json::object();
  for (const auto& [name, shape] : notes.inputs) inputs[name] = shape;
  return inputs;
}

Json MeshJson(const Mesh& mesh) {
  Json axes = Json::array();
  for (const MeshAxis& axis : mesh.axes) {
    axes.push_back({{"axis", axis.name}, {"size", axis.size}});
    if (axis.kind != 0) axes.back()["kind"] = axis.kind;
  }
  return axes;
}

// Demands are the axes of each extent, and whether others may cut it.
Json PinsJson(const Space& space, const Mesh& mesh) {
  Json pins = Json::array();
  for (const PinnedElement& pin : space.pins) {
    Json axes = Json::array(), others = Json::array();
    for (const Demand& demand : pin.demands) {
      axes.push_back(AxisNames(mesh, demand.axes));
      others.push_back(demand.others);
    }
    pins.push_back(
        {{"element", pin.element}, {"axes", std::move(axes)}, {"others", std::move(others)}});
  }
  return pins;
}

Json GapJson(int64_t value, int64_t bound) {
  if (value == bound) return 0;
  return static_cast<double>(value - bound) / static_cast<double>(value);
}

// The machine as its file has it, so that whoever reads the plan needs no other file.
Json MachineJson(const Machine& machine, bool found) {
  return {{"name", machine.name},
          {"found", found},
          {"hash", machine.hash},
          {"nodes", machine.nodes},
          {"file", Json::parse(machine.text)}};
}

Json CostJson(const Plan& plan, const PlanNotes& notes) {
  const int64_t value = plan.value();
  Json cost = {{"bytes", plan.cost.bytes()}, {"lower_bound", plan.lower_bound}};
  const bool is_bounded = plan.proof.kind != ProofKind::kNone || value == 0;
  const bool is_all_bounded = is_bounded && (plan.asked_bound > 0 || value == 0);
  if (!is_bounded) cost["lower_bound"] = nullptr;
  cost["gap"] = is_bounded ? GapJson(value, plan.lower_bound) : nullptr;
  cost["asked_lower_bound"] = is_all_bounded ? Json(plan.asked_bound) : nullptr;
  cost["asked_gap"] = is_all_bounded ? GapJson(value, plan.asked_bound) : nullptr;
  cost["seconds"] = static_cast<double>(plan.time.all()) * 1e-9;
  if (plan.time.all() == 0) cost["seconds"] = 0;
  if (plan.space.objective.machine() != nullptr) {
    cost["nanoseconds"] = {{"exchanges", plan.time.exchanges}, {"kernels", plan.time.kernels}};
  }
  cost["by_kind"] = {{"weight", plan.cost.weight},
                     {"activation", plan.cost.activation},
                     {"partial", plan.cost.partial},
                     {"halo", plan.cost.halo}};
  for (size_t axis = 0; axis < notes.levels.size(); ++axis) {
    cost["by_level"].push_back(
        {{"axis", plan.mesh.axes[axis].name}, {"bytes", notes.levels[axis]}});
  }
  if (plan.unpinned.has_value()) {
    cost["without_pins"] = {
        {plan.space.objective.IsTime() ? "nanoseconds" : "bytes", plan.unpinned->value},
        {"lower_bound", plan.unpinned->lower_bound}};
  }
  return cost;
}

// A price on memory is [time, price].
Json PricesJson(const std::vector<MemoryPrice>& prices) {
  Json rows = Json::array();
  for (const MemoryPrice& price : prices) rows.push_back({price.time, price.price});
  return rows;
}

std::string ToText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A message is [tensor, node, prices ...]. Most of a large plan's text is prices, and most of the
// rows have those of another: of blocks that repeat each list is made once.
void AppendMessages(const std::vector<DualMessage>& messages, std::string* text) {
  struct ListLess {
    bool operator()(const std::vector<int64_t>* a, const std::vector<int64_t>* b) const {
      return *a < *b;
    }
  };
  std::map<const std::vector<int64_t>*, std::string, ListLess> lists;
  text->append("[");
  for (size_t m = 0; m < messages.size(); ++m) {
    const DualMessage& message = messages[m];
    const auto [list, is_new] = lists.try_emplace(&message.values);
    if (is_new) {
      for (const int64_t value : message.values) absl::StrAppend(&list->second, ",", value);
    }
    absl::StrAppend(text, m == 0 ? "[" : ",[", message.tensor, ",", message.node, list->second,
                    "]");
  }
  text->append("]");
}

void AppendProof(const Proof& proof, std::string* text) {
  absl::StrAppend(text, "{\"kind\":", ToText(WordOf(proof.kind)),
                  ",\"order\":", ToText(proof.order), ",\"messages\":");
  AppendMessages(proof.messages, text);
  if (!proof.prices.empty()) {
    absl::StrAppend(text, ",\"prices\":", ToText(PricesJson(proof.prices)));
  }
  text->append("}");
}

Json MemoryJson(const PlanNotes& notes) {
  Json rows = Json::array();
  for (size_t device = 0; device < notes.memory.size(); ++device) {
    const DeviceMemory& memory = notes.memory[device];
    rows.push_back({{"device", device},
                    {"peak", memory.peak},
                    {"weights", memory.weights},
                    {"activations", memory.activations},
                    {"state", memory.state},
                    {"buffers", memory.buffers},
                    {"at", memory.at},
                    {"arena", memory.arena}});
  }
  return rows;
}

Json PredictedJson(const PlanNotes& notes) {
  Json rows = Json::array();
  for (const PredictedRun& run : notes.predicted) {
    rows.push_back({{"entry", run.entry},
                    {"step", run.step},
                    {"kernels", run.kernels},
                    {"exchanges", run.exchanges},
                    {"waiting", run.waiting},
                    {"starting", run.starting},
                    {"ordered", run.ordered},
                    {"fast", run.fast}});
  }
  return rows;
}

// The axes over which partials are unreduced; none for any other tensor.
AxisList AxesLeftOut(const Tensor& tensor, const Sharding& sharding, const Mesh& mesh) {
  AxisList left_out;
  for (uint8_t axis = 0; axis < mesh.axes.size() && tensor.kind == TensorKind::kPartial; ++axis) {
    const bool used = std::any_of(
        sharding.axes.begin(), sharding.axes.end(),
        [&](const AxisList& list) { return std::count(list.begin(), list.end(), axis) > 0; });
    if (!used) left_out.push_back(axis);
  }
  return left_out;
}

Json TensorJson(const Tensor& tensor, const Sharding& sharding, const Mesh& mesh) {
  Json dims = Json::array(), shard = Json::array();
  size_t flat = 0;
  for (const std::vector<int64_t>& factors : tensor.dims) {
    Json row = Json::array();
    int64_t largest = 1;
    for (int64_t factor : factors) {
      const AxisList& axes = sharding.axes[flat++];
      row.push_back({{"size", factor}, {"axes", AxisNames(mesh, axes)}});
      int64_t parts = PartCount(mesh, axes);
      largest *= (factor + parts - 1) / parts;
    }
    dims.push_back(std::move(row));
    shard.push_back(largest);
  }
  return {{"name", tensor.name},
          {"type", Name(tensor.type.type)},
          {"shape", WholeDims(tensor)},
          {"kind", Name(tensor.kind)},
          {"dims", std::move(dims)},
          {"partial", AxesText(mesh, AxesLeftOut(tensor, sharding, mesh))},
          {"shard", std::move(shard)}};
}

// The dimension, as the user knows it, along which an index of the node runs; null: along none.
// `operand` is below 0 for the result.
Json DimensionJson(const Tensor& tensor, const Definition& definition, int operand, size_t index) {
  int flat = DimsAlong(definition, operand)[index];
  for (size_t d = 0; flat >= 0 && d < tensor.dims.size(); ++d) {
    flat -= static_cast<int>(tensor.dims[d].size());
    if (flat < 0) return d;
  }
  return nullptr;
}

Json AlongJson(const Graph& graph, const Node& node, size_t index) {
  const Definition& definition = *node.definition;
  Json reads = Json::array();
  for (size_t operand = 0; operand < node.operands.size(); ++operand) {
    reads.push_back(DimensionJson(graph.tensors[node.operands[operand]], definition,
                                  static_cast<int>(operand), index));
  }
  return {{"writes", DimensionJson(graph.tensors[node.result], definition, -1, index)},
          {"reads", std::move(reads)}};
}

Json NodeJson(const Graph& graph, const Node& node, const Sharding& partition, const Mesh& mesh,
              const std::string& kernel) {
  Json reads = Json::array(), indices = Json::object(), along = Json::object();
  for (TensorId operand : node.operands) reads.push_back(graph.tensors[operand].name);
  for (size_t i = 0; i < partition.axes.size(); ++i) {
    if (partition.axes[i].empty()) continue;
    const std::string& name = node.definition->indices[i].name;
    indices[name] = AxisNames(mesh, partition.axes[i]);
    along[name] = AlongJson(graph, node, i);
  }
  Json row = {{"name", node.name}, {"op", node.op}, {"from", node.from}};
  const Tensor& result = graph.tensors[node.result];
  if (IsCarried(result) || result.name != node.name) row["writes"] = result.name;
  row["reads"] = std::move(reads);
  row["partition"] = std::move(indices);
  row["along"] = std::move(along);
  row["kernel"] = kernel;
  return row;
}

Json TransferJson(const Graph& graph, const Plan& plan, const Move& move, CostKind counts_as,
                  const std::string& collective, MoveReasons& reasons) {
  return {{"tensor", graph.tensors[move.tensor].name},
          {"node", graph.nodes[move.node].name},
          {"kind", move.kind == MoveKind::kGather ? "gather" : "reduce"},
          {"collective", collective},
          {"over", AxisNames(plan.mesh, AxesCrossed(graph, plan, move))},
          {"bytes", TimesOf(graph, move.node) * move.bytes},
          {"counts_as", WordOf(counts_as)},
          {"why", reasons.Why(move)}};
}

// A row for each entry, of a graph with several or with one that runs several times.
Json EntriesJson(const Graph& graph, const Plan& plan) {
  Json rows = Json::array();
  for (const EntryBytes& entry : BytesByEntry(graph, plan)) {
    rows.push_back({{"name", entry.name}, {"times", entry.times}, {"bytes", entry.bytes}});
  }
  return rows;
}

// Elements of the largest shards, which are computed once for tensors that are cut alike.
class LargestShards {
 public:
  explicit LargestShards(const Mesh& mesh) : mesh_(mesh) {}
  int64_t Of(const Sharding& sharding, const std::vector<int64_t>& dims) {
    const auto [largest, is_new] = largest_.try_emplace({sharding.axes, dims}, 0);
    for (int device = 0; is_new && device < mesh_.devices(); ++device) {
      largest->second = std::max(largest->second, Volume(ShardBox(mesh_, sharding, dims, device)));
    }
    return largest->second;
  }

 private:
  const Mesh& mesh_;
  std::map<std::pair<std::vector<AxisList>, std::vector<int64_t>>, int64_t> largest_;
};

// A row for each copy whose sharding is not its tensor's: where it is live, and what it takes.
Json CopiesJson(const Graph& graph, const Plan& plan) {
  LargestShards shards(plan.mesh);
  Json rows = Json::array();
  for (const Node& node : graph.nodes) {
    if (!IsCopy(graph, node)) continue;
    const Tensor &copy = graph.tensors[node.result], &tensor = graph.tensors[node.operands[0]];
    const Sharding& sharding = plan.tensors[node.result];
    if (sharding == plan.tensors[node.operands[0]]) continue;
    const int64_t largest = shards.Of(sharding, copy.type.dims);
    rows.push_back({{"copy", copy.name},
                    {"tensor", tensor.name},
                    {"readers", copy.consumers.size()},
                    {"sharding", ToString(sharding, copy.dims, plan.mesh)},
                    {"bytes", largest * ByteSize(copy.type.type)},
                    {"first", graph.nodes[copy.consumers.front()].name},
                    {"last", graph.nodes[copy.consumers.back()].name}});
  }
  return rows;
}

// A row for each node that reads partials, an accumulator or another, where several groups of
// devices have them.
Json AccumulatorsJson(const Graph& graph, const Plan& plan) {
  LargestShards shards(plan.mesh);
  Json rows = Json::array();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const Sharding& partition = plan.nodes[n];
    const std::vector<int>& operands = node.definition->partial_operands;
    if (operands.empty() || partition.axes.back().empty()) continue;
    int64_t bytes = 0;  // on the fullest device
    NodeId first = static_cast<NodeId>(n);
    for (int operand : operands) {
      const Tensor& partials = graph.tensors[node.operands[operand]];
      const Sharding& sharding = plan.tensors[node.operands[operand]];
      bytes += shards.Of(sharding, partials.type.dims) * ByteSize(partials.type.type);
      first = std::min(first, partials.producer);
    }
    const TensorId shown = node.operands[operands[0]];
    rows.push_back(
        {{"accumulator", node.name},
         {"partials", operands.size()},
         {"sharding", ToString(plan.tensors[shown], graph.tensors[shown].dims, plan.mesh)},
         {"over", AxesText(plan.mesh, partition.axes.back())},
         {"bytes", bytes},
         {"first", graph.nodes[first].name},
         {"last", node.name}});
  }
  return rows;
}

const std::string& At(const std::vector<std::string>& list, size_t i) {
  static const std::string& none = *new std::string;
  return i < list.size() ? list[i] : none;
}

// One row of `rows` on each line, so that people can read the file and it stays small.
void AppendRows(const char* name, const Json& rows, std::string* text) {
  text->append(",\n \"").append(name).append("\": [");
  for (size_t i = 0; i < rows.size(); ++i) {
    text->append(i == 0 ? "\n  " : ",\n  ");
    text->append(ToText(rows[i]));
  }
  text->append("]");
}

}  // namespace

std::string WritePlan(const Graph& graph, const Plan& plan, const PlanNotes& notes) {
  Json head = {{"format", "yuba-plan/2"}};
  head["graph"] = {
      {"file", notes.graph_file}, {"hash", notes.graph_hash}, {"inputs", InputsJson(notes)}};
  head["library"] = notes.library_hash;
  head["version"] = notes.version;
  head["options"] = OptionsJson(notes, plan.space);
  head["search"] = plan.search;
  if (!plan.stopped.empty()) head["stopped"] = plan.stopped;
  head["space"] = {
      {"nesting", WordOf(plan.space.nesting)}, {"factors", plan.space.factors},
      {"copies", plan.space.copies},           {"accumulators", plan.space.accumulators},
      {"partials", plan.space.partials},       {"replicate", WordOf(plan.space.replicate)},
      {"memory", plan.space.memory},           {"ties", Json::array()}};
  if (!plan.space.pins.empty()) head["space"]["pins"] = PinsJson(plan.space, plan.mesh);
  const Objective& objective = plan.space.objective;
  if (objective.IsTime()) head["space"]["objective"] = WordOf(objective.kind());
  if (objective.machine() != nullptr)
    head["machine"] = MachineJson(*objective.machine(), notes.machine_found);
  head["mesh"] = MeshJson(plan.mesh);
  head["cost"] = CostJson(plan, notes);
  std::string text = "{";
  for (const auto& [name, value] : head.items()) {
    text.append(text.size() == 1 ? "" : ",\n ").append("\"").append(name).append("\": ");
    text.append(ToText(value));
  }
  text.append(",\n \"proof\": ");
  AppendProof(plan.proof, &text);
  absl::StrAppend(&text, ",\n \"replayed\": ", plan.replayed ? "true" : "false");
  Json tensors = Json::array(), nodes = Json::array(), transfers = Json::array();
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    tensors.push_back(TensorJson(graph.tensors[t], plan.tensors[t], plan.mesh));
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    nodes.push_back(
        NodeJson(graph, graph.nodes[n], plan.nodes[n], plan.mesh, At(notes.kernels, n)));
  }
  MoveReasons reasons(graph, plan);
  const std::vector<Move> moves = MovesOf(graph, plan);
  const std::vector<CostKind> kinds = CostKindsOf(graph, moves);
  for (size_t m = 0; m < moves.size(); ++m) {
    transfers.push_back(
        TransferJson(graph, plan, moves[m], kinds[m], At(notes.collectives, m), reasons));
  }
  if (!(graph.entries == Graph().entries)) {
    AppendRows("entries", EntriesJson(graph, plan), &text);
  }
  AppendRows("memory", MemoryJson(notes), &text);
  if (plan.space.objective.machine() != nullptr) {
    AppendRows("predicted", PredictedJson(notes), &text);
    if (!notes.unpredicted.empty()) {
      text.append(",\n \"unpredicted\": ");
      text.append(ToText(notes.unpredicted));
    }
  }
  AppendRows("copies", CopiesJson(graph, plan), &text);
  AppendRows("accumulators", AccumulatorsJson(graph, plan), &text);
  AppendRows("tensors", tensors, &text);
  AppendRows("nodes", nodes, &text);
  AppendRows("transfers", transfers, &text);
  return text + "}\n";
}

}  // namespace yuba::search
