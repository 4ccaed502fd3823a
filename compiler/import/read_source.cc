// ReadSource of source.h.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/import/cut_types.h"
#include "compiler/import/entries.h"
#include "compiler/import/entry_at_batch.h"
#include "compiler/import/entry_reader.h"
#include "compiler/import/file/device_notes.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/file/functions.h"
#include "compiler/import/file/part.h"
#include "compiler/import/file/read.h"
#include "compiler/import/loss.h"
#include "compiler/import/opsets.h"
#include "compiler/import/order_of_statistics.h"
#include "compiler/import/parameters/declared_ties.h"
#include "compiler/import/parameters/embedding_calls.h"
#include "compiler/import/parameters/export_record.h"
#include "compiler/import/parameters/missing_parameters.h"
#include "compiler/import/parameters/restored_parameters.h"
#include "compiler/import/parameters/stored_roles.h"
#include "compiler/import/source.h"
#include "compiler/import/supported.h"
#include "compiler/import/train_recipe.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

// Stored numbers of floats that are literals, and that the file says nothing of.
std::vector<std::string> LiteralsOf(const OnnxGraph& source) {
  std::vector<std::string> numbers;
  for (const OnnxValue& value : source.values) {
    const bool number = value.stored && value.kind == TensorKind::kConstant && IsFloat(value.type);
    if (number && value.role.word == StoredRole::Word::kNone) numbers.push_back(value.name);
  }
  return numbers;
}

class Importer {
 public:
  Importer(const std::string& path, const ImportOptions& options) : path_(path), options_(options) {
    file_.folder = FolderOf(path);
  }

  absl::StatusOr<std::shared_ptr<const Source>> Read() {
    YUBA_ASSIGN_OR_RETURN(file_.proto, ReadModelFile(path_));
    nodes_ = file_.proto.graph().node_size();
    const absl::Status read = ReadGraph();
    if (!read.ok()) return Annotate(read, path_);
    Source source{path_,       std::move(file_inputs_), FileOutputs(),     nodes_,
                  file_.opset, options_.init,           std::move(graph_), absl::nullopt};
    source.missing_parameters = std::move(missing_parameters_);
    if (options_.train.has_value()) {
      YUBA_ASSIGN_OR_RETURN(source.train, RecipeOf(*options_.train, *options_.library));
      source.train->numbers = LiteralsOf(source.graph);
      const int last = static_cast<int>(source.graph.entries.size()) - 1;
      const auto name = [&](const char* own) {
        return NameInEntry(source.graph.entries, last, own);
      };
      source.train->minimized = name(kLossName);
      const auto& values = source.graph.values;
      if (std::any_of(values.begin(), values.end(),
                      [&](const OnnxValue& value) { return value.name == name(kLossWeight); })) {
        source.train->total = name(kLossTotal);
        source.train->weight = name(kLossWeight);
      }
      if (options_.train->minimize.empty()) source.file_inputs.emplace_back(kLabels);
    }
    return std::make_shared<const Source>(std::move(source));
  }

 private:
  absl::Status ReadGraph() {
    YUBA_ASSIGN_OR_RETURN(const std::vector<EntryOptions> entries, EntriesOf(options_));
    YUBA_RETURN_IF_ERROR(OrderFile());
    if (entries.empty()) {
      YUBA_RETURN_IF_ERROR(ReadEntry(options_.dims));
      return NoteBatch(options_, graph_);
    }
    graph_.entries.clear();
    for (const EntryOptions& entry : entries) graph_.entries.push_back({entry.name, entry.times});
    for (const EntryOptions& entry : entries) {
      graph_.evaluates = options_.train.has_value() && entry.name == kEvalEntry;
      DimLengths dims = entry.dims;
      dims.insert(options_.dims.begin(), options_.dims.end());
      const absl::Status read = ReadEntry(dims);
      if (!read.ok()) return Annotate(read, absl::StrCat("entry ", entry.name));
      NoteEarlier();
      ++graph_.entry;
    }
    YUBA_RETURN_IF_ERROR(NoteBatch(options_, graph_));
    return NameInEntries(graph_);
  }

  // Makes of proto a file whose entries can be translated.
  absl::Status OrderFile() {
    ::onnx::ModelProto& proto = file_.proto;
    const std::string devices = NoteOfDevices(proto);
    if (!devices.empty()) graph_.notes.push_back(devices);
    YUBA_ASSIGN_OR_RETURN(file_.opset, OpsetOf(proto, options_.strict));
    ExportRecord record = ReadExportRecord(proto.graph());
    YUBA_RETURN_IF_ERROR(InlineFunctions(proto));
    YUBA_ASSIGN_OR_RETURN(const RestoredParameters restored,
                          RestoreParameters(file_.folder, proto, record));
    if (options_.train.has_value()) {
      YUBA_RETURN_IF_ERROR(CheckDetached(restored));
      AddNotes(NotesOf(restored));
      YUBA_ASSIGN_OR_RETURN(const std::vector<std::string> embeddings,
                            NotesOfEmbeddings(proto.graph(), record, *options_.train));
      AddNotes(embeddings);
    }
    YUBA_ASSIGN_OR_RETURN(file_.order, OrderPart());
    KeepOrderOfStatistics(proto.graph(), file_.order);
    YUBA_RETURN_IF_ERROR(TakeRoles(record, restored.lost));
    FileGraph& order = file_.order;
    YUBA_ASSIGN_OR_RETURN(order.initialization, ReadInitialization(proto, file_.folder));
    for (const ::onnx::ValueInfoProto* input : order.inputs) {
      if (order.initialization.count(input->name()) == 0) file_inputs_.push_back(input->name());
    }
    return CheckSupported(proto, order, file_.opset, *options_.library);
  }

  // The nodes of the part that the options name, which may be all.
  absl::StatusOr<FileGraph> OrderPart() {
    ::onnx::GraphProto& graph = *file_.proto.mutable_graph();
    YUBA_RETURN_IF_ERROR(CutPart(options_.from_tensors, options_.to_tensors, graph));
    YUBA_ASSIGN_OR_RETURN(FileGraph order, OrderFileGraph(graph));
    if (options_.from_tensors.empty() && options_.to_tensors.empty()) return order;
    YUBA_RETURN_IF_ERROR(MarkCuts(options_.from_tensors, graph, order));
    nodes_ = static_cast<int>(order.nodes.size());
    graph_.notes.push_back(
        absl::StrCat("a part of the file: ", nodes_, " of its ", graph.node_size(), " nodes"));
    return order;
  }

  // What the file says of its stored values; `lost` are parameters that it lacks besides.
  absl::Status TakeRoles(const ExportRecord& record,
                         const std::map<std::string, std::string>& lost) {
    StoredRoles roles = FindStoredRoles(file_.proto.graph(), record, file_.order);
    roles.missing.insert(lost.begin(), lost.end());
    missing_parameters_ = WithoutTensor(roles, record);
    file_.order.roles = roles.of;
    if (!options_.train.has_value()) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(CheckMissing(roles, *options_.train));
    AddNotes(roles.notes);
    file_.ties = TiesOf(roles, options_.train->ties, file_.order);
    return absl::OkStatus();
  }

  void AddNotes(const std::vector<std::string>& notes) {
    graph_.notes.insert(graph_.notes.end(), notes.begin(), notes.end());
  }

  std::vector<std::string> FileOutputs() const {
    std::vector<std::string> names;
    if (options_.train.has_value()) return {kLossName};
    if (graph_.entries.size() == 1) return names;
    for (const ::onnx::ValueInfoProto& output : file_.proto.graph().output()) {
      names.push_back(output.name());
    }
    return names;
  }

  // What the next entry may share with those before it.
  void NoteEarlier() {
    graph_.earlier.clear();
    for (size_t v = 0; v < graph_.values.size(); ++v) {
      const OnnxValue& value = graph_.values[v];
      if (value.name.empty() || value.kind == TensorKind::kActivation) continue;
      graph_.earlier[value.name].push_back(static_cast<int>(v));
    }
    graph_.by_name.clear();
    graph_.sequences.clear();
  }

  // The whole file at these sizes, behind what graph_ has already. How many rows an entry adds to
  // its caches follows from the translation, which needs it for the sizes of masks: so it is tried
  // with one row, with what the translation finds then, and with each size that was given.
  absl::Status ReadEntry(const DimLengths& dims) {
    ::onnx::GraphProto& proto = *file_.proto.mutable_graph();
    YUBA_RETURN_IF_ERROR(DeclareCuts(path_, options_, dims, file_.order, proto));
    EntryCaches caches;
    YUBA_ASSIGN_OR_RETURN(caches.pairs, FindCaches(proto, file_.order.unread, options_.caches));
    if (caches.pairs.empty()) return ReadEntryAtBatch(file_, options_, dims, caches, graph_);
    const int64_t length = caches.pairs[0].length;
    const OnnxGraph before = graph_;
    std::vector<int64_t> tries = {1};
    for (const auto& [name, size] : dims) tries.push_back(size);
    std::set<int64_t> tried;
    absl::Status failure;
    while (!tries.empty()) {
      const int64_t rows = tries.front();
      tries.erase(tries.begin());
      if (rows > length || !tried.insert(rows).second) continue;
      graph_ = before;
      caches.new_rows = rows;
      const absl::Status read = ReadEntryAtBatch(file_, options_, dims, caches, graph_);
      if (read.ok()) return read;
      if (graph_.new_rows != rows) {
        if (graph_.new_rows > length) {
          return UserError("it adds ", graph_.new_rows, " rows to caches of ", length);
        }
        tries.insert(tries.begin(), graph_.new_rows);
      } else if (failure.ok() || tried.size() == 1) {
        failure = read;
      }
    }
    return failure;
  }

  const std::string path_;
  const ImportOptions& options_;
  OrderedFile file_;
  std::vector<std::string> file_inputs_;
  std::map<std::string, std::string> missing_parameters_;
  int nodes_ = 0;
  OnnxGraph graph_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Source>> ReadSource(const std::string& path,
                                                         const ImportOptions& options) {
  return Importer(path, options).Read();
}

}  // namespace yuba::onnx
