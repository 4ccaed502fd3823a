// A plan file is read: each function takes one field of the text to one field of PlanFile.
// plan_file_head.cc has the fields before the cost.
#include <limits>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/json_reader.h"
#include "opsemantics/base/status.h"
#include "search/file/plan_file.h"
#include "search/file/plan_file_head.h"

namespace yuba::search {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

void ReadOrder(const JsonReader& order, std::vector<int>* result) {
  for (const JsonReader& item : order.Items()) {
    result->push_back(static_cast<int>(item.Integer(0, std::numeric_limits<int>::max())));
  }
}

// Most of a large plan's text: a row is read as one list of numbers, and items of their own, which
// know their places, are made for errors alone.
void ReadMessages(const JsonReader& rows, std::vector<DualMessage>* result) {
  constexpr int64_t most = std::numeric_limits<int>::max();
  for (const JsonReader& row : rows.Items()) {
    const std::vector<int64_t> numbers = row.Integers(-kMost, kMost);
    if (numbers.size() < 2) row.Fail("[tensor, node, prices ...]");
    if (!rows.ok()) return;
    for (size_t i = 0; i < 2; ++i) {
      if (numbers[i] < 0 || numbers[i] > most) row.Items()[i].Integer(0, most);
    }
    if (!rows.ok()) return;
    result->push_back({static_cast<TensorId>(numbers[0]), static_cast<NodeId>(numbers[1]),
                       std::vector<int64_t>(numbers.begin() + 2, numbers.end())});
  }
}

// Whether the file has a kind of proof whose replay is gone (docs/decisions/132-fewer-engines.md).
bool HasForgottenProof(const JsonReader& proof) { return proof.Field("kind").String() == "grids"; }

void ReadProof(const JsonReader& proof, Proof* result) {
  result->kind = ReadWord<ProofKind>(proof.Field("kind"));
  ReadOrder(proof.Field("order"), &result->order);
  ReadMessages(proof.Field("messages"), &result->messages);
}

// Times ascend and are below three for each node, so there are no more prices than that.
void ReadPrices(const JsonReader& prices, int64_t nodes, std::vector<MemoryPrice>* result) {
  int64_t last = -1;
  for (const JsonReader& row : prices.Items()) {
    const std::vector<JsonReader> items = row.Items();
    if (items.size() != 2) {
      row.Fail("[time, price]");
      return;
    }
    const int64_t time = items[0].Integer(0, kMost);
    if (time <= last || time >= 3 * nodes) {
      items[0].Fail(absl::StrCat("a time after ", last, " and before ", 3 * nodes,
                                 ", which is three for each node"));
    }
    if (!prices.ok()) return;
    last = time;
    result->push_back({time, items[1].Integer(0, kMost)});
  }
}

void ReadCost(const JsonReader& root, PlanFile* file) {
  JsonReader cost = root.Field("cost");
  file->claimed_bytes = cost.Field("bytes").Integer(0, kMost);
  if (file->space.objective.machine() != nullptr) {
    const JsonReader time = cost.Field("nanoseconds");
    file->time.exchanges = time.Field("exchanges").Integer(0, kMost / 2);
    file->time.kernels = time.Field("kernels").Integer(0, kMost / 2);
  }
  if (!cost.Field("lower_bound").IsNull()) {
    file->lower_bound = cost.Field("lower_bound").Integer(0, kMost);
  }
  if (cost.Has("asked_lower_bound") && !cost.Field("asked_lower_bound").IsNull()) {
    file->asked_bound = cost.Field("asked_lower_bound").Integer(0, kMost);
  }
  if (cost.Has("by_level")) {
    for (const JsonReader& level : cost.Field("by_level").Items()) {
      file->notes.levels.push_back(level.Field("bytes").Integer(-kMost, kMost));
    }
    if (file->notes.levels.size() != file->mesh.axes.size()) {
      cost.Field("by_level").Fail("a row for each mesh axis");
    }
  }
  JsonReader kinds = cost.Field("by_kind");
  constexpr int64_t quarter = kMost / 4;  // the sum must fit
  file->cost.weight = kinds.Field("weight").Integer(0, quarter);
  file->cost.activation = kinds.Field("activation").Integer(0, quarter);
  file->cost.partial = kinds.Field("partial").Integer(0, quarter);
  file->cost.halo = kinds.Field("halo").Integer(0, quarter);
  if (cost.Has("without_pins")) {
    const JsonReader without = cost.Field("without_pins");
    const char* unit = file->space.objective.IsTime() ? "nanoseconds" : "bytes";
    const int64_t value = without.Field(unit).Integer(0, kMost);
    file->unpinned = Unpinned{value, without.Field("lower_bound").Integer(0, value)};
  }
  const JsonReader proof = root.Field("proof");
  file->replayed = root.Field("replayed").Bool();
  file->proof_forgotten = HasForgottenProof(proof);
  if (file->proof_forgotten) {
    file->lower_bound = file->asked_bound = 0;
    file->replayed = false;
    return;
  }
  ReadProof(proof, &file->proof);
  const auto nodes = static_cast<int64_t>(root.Field("nodes").Items().size());
  if (proof.Has("prices")) ReadPrices(proof.Field("prices"), nodes, &file->proof.prices);
}

void ReadEntries(const JsonReader& rows, PlanFile* file) {
  for (const JsonReader& row : rows.Items()) {
    EntryBytes entry;
    entry.name = row.Field("name").String();
    entry.times = row.Field("times").Integer(1, kMost);
    entry.bytes = row.Field("bytes").Integer(0, kMost);
    if (!rows.ok()) return;
    file->entries.push_back(std::move(entry));
  }
}

void ReadMemory(const JsonReader& rows, PlanFile* file) {
  int64_t device = 0;
  for (const JsonReader& row : rows.Items()) {
    row.Field("device").Integer(device, device);
    ++device;
    DeviceMemory memory;
    memory.peak = row.Field("peak").Integer(0, kMost);
    memory.weights = row.Field("weights").Integer(0, kMost);
    memory.activations = row.Field("activations").Integer(0, kMost);
    memory.state = row.Field("state").Integer(0, kMost);
    memory.buffers = row.Field("buffers").Integer(0, kMost);
    memory.at = row.Field("at").String();
    memory.arena = row.Field("arena").Integer(0, kMost);
    file->notes.memory.push_back(memory);
    if (!rows.ok()) return;
  }
}

void ReadPredicted(const JsonReader& rows, PlanFile* file) {
  for (const JsonReader& row : rows.Items()) {
    const auto nanoseconds = [&](const char* field) { return row.Field(field).Integer(0, kMost); };
    PredictedRun run;
    run.entry = row.Field("entry").String();
    run.step = nanoseconds("step");
    run.kernels = nanoseconds("kernels");
    run.exchanges = nanoseconds("exchanges");
    run.waiting = nanoseconds("waiting");
    run.starting = nanoseconds("starting");
    run.ordered = nanoseconds("ordered");
    run.fast = nanoseconds("fast");
    if (!rows.ok()) return;
    file->notes.predicted.push_back(std::move(run));
  }
}

void ReadTensors(const JsonReader& rows, PlanFile* file) {
  for (const JsonReader& row : rows.Items()) {
    PlanFile::TensorRow tensor;
    tensor.name = row.Field("name").String();
    tensor.kind = row.Field("kind").String();
    absl::optional<ElementType> type = ElementTypeFromName(row.Field("type").String());
    if (!type.has_value()) row.Field("type").Fail("an element type");
    tensor.type = type.value_or(ElementType::kF32);
    for (const JsonReader& dim : row.Field("dims").Items()) {
      tensor.dims.push_back({});
      for (const JsonReader& factor : dim.Items()) {
        tensor.dims.back().push_back(factor.Field("size").Integer(0, kMost));
        tensor.sharding.axes.push_back(ReadAxes(factor.Field("axes"), file->mesh));
      }
    }
    if (!rows.ok()) return;
    file->tensors.push_back(std::move(tensor));
  }
}

// Of an index, the dimension of the result and of each tensor that is read.
std::vector<int> ReadAlong(const JsonReader& row) {
  constexpr int64_t most = std::numeric_limits<int>::max();
  const auto dimension = [&](const JsonReader& item) {
    return item.IsNull() ? -1 : static_cast<int>(item.Integer(0, most));
  };
  std::vector<int> dimensions = {dimension(row.Field("writes"))};
  for (const JsonReader& item : row.Field("reads").Items()) dimensions.push_back(dimension(item));
  return dimensions;
}

void ReadNodes(const JsonReader& rows, PlanFile* file) {
  for (const JsonReader& row : rows.Items()) {
    PlanFile::NodeRow node;
    node.name = row.Field("name").String();
    node.op = row.Field("op").String();
    node.from = row.Field("from").String();
    node.writes = row.Has("writes") ? row.Field("writes").String() : node.name;
    node.reads = row.Field("reads").Strings();
    for (const auto& [index, axes] : row.Field("partition").Fields()) {
      node.indices.push_back(index);
      node.axes.push_back(ReadAxes(axes, file->mesh));
      if (!row.Has("along")) continue;  // files of earlier versions
      node.along.push_back(ReadAlong(row.Field("along").Field(index)));
      if (rows.ok() && node.along.back().size() != node.reads.size() + 1) {
        row.Field("along").Field(index).Field("reads").Fail("a dimension of each tensor read");
      }
    }
    node.kernel = row.Field("kernel").String();
    if (!rows.ok()) return;
    file->notes.kernels.push_back(node.kernel);
    file->nodes.push_back(std::move(node));
  }
}

void ReadCopies(const JsonReader& rows, PlanFile* file) {
  for (const JsonReader& row : rows.Items()) {
    PlanFile::CopyRow copy;
    copy.copy = row.Field("copy").String();
    copy.tensor = row.Field("tensor").String();
    copy.sharding = row.Field("sharding").String();
    copy.first = row.Field("first").String();
    copy.last = row.Field("last").String();
    copy.readers = row.Field("readers").Integer(0, kMost);
    copy.bytes = row.Field("bytes").Integer(0, kMost);
    if (!rows.ok()) return;
    file->copies.push_back(std::move(copy));
  }
}

void ReadAccumulators(const JsonReader& rows, PlanFile* file) {
  for (const JsonReader& row : rows.Items()) {
    PlanFile::AccumulatorRow sum;
    sum.accumulator = row.Field("accumulator").String();
    sum.sharding = row.Field("sharding").String();
    sum.over = row.Field("over").String();
    sum.first = row.Field("first").String();
    sum.last = row.Field("last").String();
    sum.partials = row.Field("partials").Integer(0, kMost);
    sum.bytes = row.Field("bytes").Integer(0, kMost);
    if (!rows.ok()) return;
    file->accumulators.push_back(std::move(sum));
  }
}

// Files from before there was the field do not tell weights and halos from other gathers.
CostKind ReadCountsAs(const JsonReader& transfer, const std::string& kind) {
  const CostKind usual = kind == "reduce" ? CostKind::kPartial : CostKind::kActivation;
  if (!transfer.Has("counts_as")) return usual;
  const JsonReader field = transfer.Field("counts_as");
  const absl::optional<CostKind> counts_as = FromWord<CostKind>(field.String());
  if (!counts_as.has_value()) field.Fail(OneOf<CostKind>());
  return counts_as.value_or(usual);
}

void ReadTransfers(const JsonReader& rows, PlanFile* file) {
  for (const JsonReader& row : rows.Items()) {
    PlanFile::TransferRow transfer;
    transfer.tensor = row.Field("tensor").String();
    transfer.node = row.Field("node").String();
    transfer.kind = row.Field("kind").String();
    if (transfer.kind != "gather" && transfer.kind != "reduce") {
      row.Field("kind").Fail("\"gather\" or \"reduce\"");
    }
    transfer.collective = row.Field("collective").String();
    transfer.over = row.Field("over").Strings();
    transfer.bytes = row.Field("bytes").Integer(0, kMost);
    transfer.counts_as = ReadCountsAs(row, transfer.kind);
    transfer.why = row.Field("why").String();
    if (!rows.ok()) return;
    file->notes.collectives.push_back(transfer.collective);
    file->transfers.push_back(std::move(transfer));
  }
}

}  // namespace

absl::StatusOr<PlanFile> ReadPlan(absl::string_view json) {
  const absl::StatusOr<JsonReader::Json> root = ParseJson(json);
  if (!root.ok()) return Annotate(root.status(), "this is no plan file");
  absl::Status status;
  JsonReader reader(*root, &status);
  PlanFile file;
  ReadHead(reader, &file);
  ReadCost(reader, &file);
  if (reader.Has("entries")) ReadEntries(reader.Field("entries"), &file);
  ReadMemory(reader.Field("memory"), &file);
  if (reader.Has("predicted")) ReadPredicted(reader.Field("predicted"), &file);
  if (reader.Has("unpredicted")) file.notes.unpredicted = reader.Field("unpredicted").String();
  ReadCopies(reader.Field("copies"), &file);
  ReadAccumulators(reader.Field("accumulators"), &file);
  ReadTensors(reader.Field("tensors"), &file);
  ReadNodes(reader.Field("nodes"), &file);
  ReadTransfers(reader.Field("transfers"), &file);
  if (!status.ok()) return Annotate(status, "this is no plan file");
  return file;
}

}  // namespace yuba::search
