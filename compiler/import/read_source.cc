// ReadSource of source.h.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/batch.h"
#include "compiler/import/batch_changes.h"
#include "compiler/import/cut_types.h"
#include "compiler/import/file/device_notes.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/file/functions.h"
#include "compiler/import/file/part.h"
#include "compiler/import/file/read.h"
#include "compiler/import/formed_initializers.h"
#include "compiler/import/loss.h"
#include "compiler/import/node_translator.h"
#include "compiler/import/opsets.h"
#include "compiler/import/outputs.h"
#include "compiler/import/parameters/export_record.h"
#include "compiler/import/parameters/missing_parameters.h"
#include "compiler/import/parameters/restored_parameters.h"
#include "compiler/import/parameters/stored_roles.h"
#include "compiler/import/random_numbers.h"
#include "compiler/import/source.h"
#include "compiler/import/supported.h"
#include "compiler/import/ties.h"
#include "compiler/import/train_recipe.h"
#include "compiler/import/translate/caches.h"
#include "compiler/import/translate/sources.h"
#include "compiler/simplify/invariants.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

// Names are those of files and of flags: they stand before a colon in others.
absl::Status CheckEntries(const std::vector<EntryOptions>& entries) {
  std::set<std::string> names;
  for (const EntryOptions& entry : entries) {
    const bool plain = !entry.name.empty() &&
                       std::all_of(entry.name.begin(), entry.name.end(), [](unsigned char c) {
                         return absl::ascii_isalnum(c) || c == '_' || c == '-';
                       });
    if (!plain) {
      return UserError("--entry ", entry.name, ": an entry's name has letters, digits, _ and -");
    }
    if (entry.name == compiler::kInitEntry) {
      return UserError("--entry init: that entry computes what never changes; --init makes it");
    }
    if (!names.insert(entry.name).second) {
      return UserError("--entry ", entry.name, " is given twice");
    }
    if (entry.times < 1) {
      return UserError("--times ", entry.name, "=", entry.times, ": an entry runs at least once");
    }
  }
  return absl::OkStatus();
}

// What is read of the file as entries; none where a step is all there is.
std::vector<EntryOptions> EntriesOfTraining(const TrainOptions& train) {
  const int64_t steps = std::max<int64_t>(train.eval_every, 1);
  std::vector<EntryOptions> entries;
  if (train.eval_every > 0) entries.push_back({kEvalEntry, {}, 1});
  if (train.micro_batches > 1) {
    entries.push_back({kMicroEntry, {}, steps * train.micro_batches});
  } else if (!entries.empty()) {
    entries.push_back({kTrainEntry, {}, steps});
  }
  return entries;
}

class Importer {
 public:
  Importer(const std::string& path, const ImportOptions& options)
      : path_(path), folder_(FolderOf(path)), options_(options) {}

  absl::StatusOr<std::shared_ptr<const Source>> Read() {
    YUBA_ASSIGN_OR_RETURN(proto_, ReadModelFile(path_));
    nodes_ = proto_.graph().node_size();
    const absl::Status read = ReadGraph();
    if (!read.ok()) return Annotate(read, path_);
    Source source{path_,  std::move(file_inputs_), FileOutputs(),     nodes_,
                  opset_, options_.init,           std::move(graph_), absl::nullopt};
    if (options_.train.has_value()) {
      YUBA_ASSIGN_OR_RETURN(source.train, RecipeOf(*options_.train, *options_.library));
      const int last = static_cast<int>(source.graph.entries.size()) - 1;
      const auto name = [&](const char* own) {
        return NameInEntry(source.graph.entries, last, own);
      };
      source.train->loss = name(kLossName);
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
  void NoteRestored(const RestoredParameters& restored) {
    const auto note = [&](const char* text, const std::vector<std::string>& names) {
      if (!names.empty())
        graph_.notes.push_back(absl::StrCat(text, ": ", absl::StrJoin(names, ", ")));
    };
    note("biases of zeros that the exporter left out", restored.left_out);
    note("parameters that the file stores repeated", restored.repeated);
    note("parameters that the file stores once with equal ones", restored.merged);
    note("parameters that the file stores once with equal constants", restored.shared);
  }

  absl::Status ReadGraph() {
    YUBA_RETURN_IF_ERROR(CheckEntries(options_.entries));
    std::vector<EntryOptions> entries = options_.entries;
    if (options_.train.has_value() && !options_.entries.empty()) {
      return UserError("--train and --entry: a training step is the one entry of its program; ",
                       "leave out --entry");
    }
    const std::string devices = NoteOfDevices(proto_);
    if (!devices.empty()) graph_.notes.push_back(devices);
    YUBA_ASSIGN_OR_RETURN(opset_, OpsetOf(proto_, options_.strict));
    ExportRecord record = ReadExportRecord(proto_.graph());
    YUBA_RETURN_IF_ERROR(InlineFunctions(proto_));
    YUBA_ASSIGN_OR_RETURN(const RestoredParameters restored,
                          RestoreParameters(folder_, proto_, record));
    if (options_.train.has_value()) {
      YUBA_RETURN_IF_ERROR(CheckDetached(restored));
      NoteRestored(restored);
    }
    YUBA_ASSIGN_OR_RETURN(FileGraph order, OrderPart());
    YUBA_RETURN_IF_ERROR(TakeRoles(record, order));
    YUBA_ASSIGN_OR_RETURN(order.initialization, ReadInitialization(proto_, folder_));
    for (const ::onnx::ValueInfoProto* input : order.inputs) {
      if (order.initialization.count(input->name()) == 0) file_inputs_.push_back(input->name());
    }
    YUBA_RETURN_IF_ERROR(CheckSupported(proto_, order, opset_, *options_.library));
    if (options_.train.has_value()) entries = EntriesOfTraining(*options_.train);
    if (entries.empty()) {
      YUBA_RETURN_IF_ERROR(ReadEntry(order, options_.dims));
      return NoteBatch();
    }
    graph_.entries.clear();
    for (const EntryOptions& entry : entries) graph_.entries.push_back({entry.name, entry.times});
    for (const EntryOptions& entry : entries) {
      graph_.evaluates = options_.train.has_value() && entry.name == kEvalEntry;
      std::map<std::string, int64_t> dims = entry.dims;
      dims.insert(options_.dims.begin(), options_.dims.end());
      const absl::Status read = ReadEntry(order, dims);
      if (!read.ok()) return Annotate(read, absl::StrCat("entry ", entry.name));
      NoteEarlier();
      ++graph_.entry;
    }
    YUBA_RETURN_IF_ERROR(NoteBatch());
    return NameInEntries();
  }

  // Gives what is of one entry alone its name: "eval:loss".
  absl::Status NameInEntries() {
    std::set<std::string> common;
    for (const OnnxValue& value : graph_.values) {
      if (value.entry == OnnxValue::kCommon) common.insert(value.name);
    }
    for (OnnxValue& value : graph_.values) {
      if (value.name.empty() || value.entry == OnnxValue::kCommon) continue;
      value.name = NameInEntry(graph_.entries, value.entry, value.name);
      if (common.count(value.name) == 0) continue;
      return UserError("the model has a value '", value.name, "', which is what a value of the ",
                       "entry ", graph_.entries[value.entry].name, " is called: rename it");
    }
    return absl::OkStatus();
  }

  // The nodes of the part that the options name, which may be all.
  absl::StatusOr<FileGraph> OrderPart() {
    ::onnx::GraphProto& graph = *proto_.mutable_graph();
    YUBA_RETURN_IF_ERROR(CutPart(options_.from_tensors, options_.to_tensors, graph));
    YUBA_ASSIGN_OR_RETURN(FileGraph order, OrderFileGraph(graph));
    if (options_.from_tensors.empty() && options_.to_tensors.empty()) return order;
    YUBA_RETURN_IF_ERROR(MarkCuts(options_.from_tensors, graph, order));
    nodes_ = static_cast<int>(order.nodes.size());
    graph_.notes.push_back(
        absl::StrCat("a part of the file: ", nodes_, " of its ", graph.node_size(), " nodes"));
    return order;
  }

  // What the file says of its stored values.
  absl::Status TakeRoles(const ExportRecord& record, FileGraph& order) {
    StoredRoles roles = FindStoredRoles(proto_.graph(), record, order);
    order.roles = std::move(roles.of);
    if (!options_.train.has_value()) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(CheckMissing(roles, *options_.train));
    graph_.notes.insert(graph_.notes.end(), roles.notes.begin(), roles.notes.end());
    for (const auto& [tied, kept] : roles.same) ties_.push_back({tied, kept});
    for (const TieOptions& tie : options_.train->ties) {
      const auto merged = roles.merged.find(tie.tied);
      if (merged == roles.merged.end() || merged->second != tie.kept)
        ties_.push_back({InFile(tie.tied, order), InFile(tie.kept, order)});
    }
    return absl::OkStatus();
  }

  // The file's name of a stored tensor that the user calls by its parameter or by its form.
  static std::string InFile(const std::string& name, const FileGraph& order) {
    if (order.initializers.count(name) > 0) return name;
    for (const auto& [stored, role] : order.roles) {
      if (role.form.has_value() && IsCalled(*role.form, name)) return stored;
    }
    return name;
  }

  std::vector<std::string> FileOutputs() const {
    std::vector<std::string> names;
    if (options_.train.has_value()) return {kLossName};
    if (graph_.entries.size() == 1) return names;
    for (const ::onnx::ValueInfoProto& output : proto_.graph().output()) {
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
  absl::Status ReadEntry(const FileGraph& order, const std::map<std::string, int64_t>& dims) {
    YUBA_RETURN_IF_ERROR(DeclareCuts(path_, options_, dims, order, *proto_.mutable_graph()));
    YUBA_ASSIGN_OR_RETURN(const std::vector<CachePair> pairs,
                          FindCaches(proto_.graph(), order.unread, options_.caches));
    if (pairs.empty()) return ReadEntryAtBatch(order, dims, pairs, 0);
    const OnnxGraph before = graph_;
    std::vector<int64_t> tries = {1};
    for (const auto& [name, size] : dims) tries.push_back(size);
    std::set<int64_t> tried;
    absl::Status failure;
    while (!tries.empty()) {
      const int64_t rows = tries.front();
      tries.erase(tries.begin());
      if (rows > pairs[0].length || !tried.insert(rows).second) continue;
      graph_ = before;
      const absl::Status read = ReadEntryAtBatch(order, dims, pairs, rows);
      if (read.ok()) return read;
      if (graph_.new_rows != rows) {
        if (graph_.new_rows > pairs[0].length) {
          return UserError("it adds ", graph_.new_rows, " rows to caches of ", pairs[0].length);
        }
        tries.insert(tries.begin(), graph_.new_rows);
      } else if (failure.ok() || tried.size() == 1) {
        failure = read;
      }
    }
    return failure;
  }

  struct FoundBatch {
    std::unique_ptr<const BatchFinder> finder;  // of graph_ as it was read for that
    Batch batch;
    std::map<std::string, ValueAtBatch> ones;  // inputs with a batch of one, as they were read
  };

  // Reads the entry to find its batch: at lengths for those dimensions that have none, and with a
  // batch of one as one of several, as nothing is seen to flow along a 1.
  absl::StatusOr<FoundBatch> FindBatch(const FileGraph& order,
                                       const std::map<std::string, int64_t>& given,
                                       const std::vector<CachePair>& pairs, int64_t new_rows) {
    std::map<std::string, int64_t> known = given;
    if (!pairs.empty()) known.emplace(pairs[0].symbol, pairs[0].length);
    const OpenDims open =
        options_.batch.has_value() ? FindOpenDims(order, options_, known) : OpenDims();
    const std::map<std::string, int64_t> dims = WithTrial(open, options_, given);
    const OnnxGraph before = graph_;
    FoundBatch found;
    const auto read = [&] {
      graph_ = before;
      graph_.finds_batch = true;
      graph_.at_batch = found.ones;
      return ReadEntryWith(order, dims, pairs, new_rows);
    };
    const auto find = [&]() -> absl::Status {
      found.finder = std::make_unique<const BatchFinder>(graph_, options_, open);
      YUBA_ASSIGN_OR_RETURN(found.batch, found.finder->Find(graph_.entry));
      return absl::OkStatus();
    };
    const absl::Status tried = read();
    if (!tried.ok()) return WhyNoTrial(tried, open, options_);
    const std::map<std::string, int> ones = InputsOfOne();
    for (const auto& [input, dim] : ones) found.ones[input] = AtBatch(input, dim);
    if (!ones.empty()) YUBA_RETURN_IF_ERROR(read());
    YUBA_RETURN_IF_ERROR(find());
    const auto& batch = found.batch.dims;
    const bool other = std::any_of(batch.begin(), batch.end(), [&](const auto& dim) {
      const auto one = ones.find(graph_.values[dim.first].name);
      return one != ones.end() && one->second != dim.second;
    });
    if (!other) return found;
    found.ones.clear();
    YUBA_RETURN_IF_ERROR(read());
    YUBA_RETURN_IF_ERROR(find());
    return found;
  }

  ValueAtBatch AtBatch(const std::string& input, int dim) const {
    ValueAtBatch value = {graph_.values[graph_.by_name.at(input)].dims, nullptr};
    value.dims[dim] = *options_.batch;
    return value;
  }

  // The entry with the batch that the options ask for. Which dimension the batch is, and where the
  // file has written its length into nodes, shows when the entry has been read as the file has it.
  absl::Status ReadEntryAtBatch(const FileGraph& order, const std::map<std::string, int64_t>& given,
                                const std::vector<CachePair>& pairs, int64_t new_rows) {
    const int64_t parts = options_.train.has_value() ? options_.train->micro_batches : 1;
    graph_.at_batch.clear();
    if (parts == 1 && !options_.batch.has_value())
      return ReadEntryWith(order, given, pairs, new_rows);
    const OnnxGraph before = graph_;
    YUBA_ASSIGN_OR_RETURN(const FoundBatch found, FindBatch(order, given, pairs, new_rows));
    const BatchFinder& finder = *found.finder;
    const Batch& batch = found.batch;
    const int64_t examples = options_.batch.value_or(batch.examples);
    YUBA_RETURN_IF_ERROR(finder.CheckCut(batch, examples, parts));
    YUBA_ASSIGN_OR_RETURN(const auto dims, finder.Lengths(batch, given));
    std::map<std::string, int> dims_of_inputs;
    for (const auto& [input, dim] : batch.dims) dims_of_inputs[graph_.values[input].name] = dim;
    const std::vector<std::string> notes = finder.Notes(batch, graph_.entry, examples, parts);
    const auto read = [&](const std::map<std::string, ValueAtBatch>& values, bool finds_batch) {
      graph_ = before;
      graph_.at_batch = values;
      graph_.finds_batch = finds_batch;
      return ReadEntryWith(order, dims, pairs, new_rows);
    };
    std::map<std::string, ValueAtBatch> at_batch = found.ones;
    // Where the file leaves the length open, all else follows from that by itself.
    const bool follows = parts == 1 && finder.IsOpen(batch);
    const bool changes = examples / parts != batch.examples;
    if (!follows && (changes || !at_batch.empty())) {
      YUBA_ASSIGN_OR_RETURN(auto other, finder.At(batch, examples / parts));
      if (changes) at_batch = std::move(other);
    }
    if (parts > 1) {  // what a part computes is what the whole step does
      YUBA_ASSIGN_OR_RETURN(const auto other,
                            finder.At(batch, changes ? examples / parts : examples));
      const OnnxGraph whole = std::move(graph_);
      YUBA_RETURN_IF_ERROR(read(other, true));
      YUBA_RETURN_IF_ERROR(CheckSizesAtBatch(graph_));
      const absl::Status checked = CheckSameAtBatch(whole, graph_);
      if (!checked.ok()) {
        return UserError("--micro-batches ", parts, ": ", checked.message(),
                         ": the loss of the parts would not be that of the whole");
      }
    }
    YUBA_RETURN_IF_ERROR(read(at_batch, false));
    YUBA_RETURN_IF_ERROR(CheckSizesAtBatch(graph_));
    for (const std::string& note : notes) {
      const auto& all = graph_.notes;
      if (std::count(all.begin(), all.end(), note) == 0) graph_.notes.push_back(note);
    }
    for (const int input : graph_.inputs) {
      OnnxValue& value = graph_.values[input];
      const auto dim = dims_of_inputs.find(value.name);
      const bool here = value.entry == graph_.entry || value.entry == OnnxValue::kCommon;
      if (here && dim != dims_of_inputs.end()) value.batch_dim = dim->second;
    }
    return absl::OkStatus();
  }

  // Where the file has a batch of one, so that the first dimension of all inputs of the entry is 1,
  // or that which --batch-dim says, and --batch asks for another: these inputs and dimensions. None
  // where --dim says that it is one.
  std::map<std::string, int> InputsOfOne() const {
    std::map<std::string, int> ones;
    if (options_.batch.value_or(1) == 1) return ones;
    for (const int input : graph_.inputs) {
      const OnnxValue& value = graph_.values[input];
      const bool here = value.entry == graph_.entry || value.entry == OnnxValue::kCommon;
      if (!here || value.name == kLabels) continue;
      int dim = options_.batch_dims.empty() ? 0 : -1;
      for (const BatchDim& flag : options_.batch_dims) {
        if (flag.input == value.name) dim = flag.dim;
      }
      if (dim < 0 || dim >= static_cast<int>(value.dims.size())) continue;
      if (value.dims[dim] != 1 || !value.dim_names[dim].empty()) return {};
      ones[value.name] = dim;
    }
    return ones;
  }

  // Where the options change nothing about the batch: what it is in each entry.
  absl::Status NoteBatch() {
    const bool noted = options_.batch.has_value() ||
                       (options_.train.has_value() && options_.train->micro_batches > 1);
    if (noted) return absl::OkStatus();
    const BatchFinder finder(graph_, options_);
    const auto entries = static_cast<int>(graph_.entries.size());
    std::vector<Batch> batches;
    for (int entry = 0; entry < entries; ++entry) {
      YUBA_ASSIGN_OR_RETURN(Batch batch, finder.Find(entry));
      batches.push_back(std::move(batch));
    }
    for (const Batch& batch : batches) {
      for (const auto& [input, dim] : batch.dims) {
        if (graph_.values[input].batch_dim < 0) graph_.values[input].batch_dim = dim;
      }
      if (graph_.no_batch.empty() && !batch.sure.ok())
        graph_.no_batch = std::string(batch.sure.message());
    }
    return absl::OkStatus();
  }

  absl::Status ReadEntryWith(const FileGraph& order, std::map<std::string, int64_t> dims,
                             const std::vector<CachePair>& pairs, int64_t new_rows) {
    const ::onnx::GraphProto& graph = proto_.graph();
    if (!pairs.empty()) {
      if (dims.count(pairs[0].symbol) > 0) {
        return UserError("--dim ", pairs[0].symbol,
                         ": the length of the caches is that of --cache; leave it out");
      }
      dims[pairs[0].symbol] = pairs[0].length - new_rows;
    }
    graph_.trains = options_.train.has_value() && !graph_.evaluates;
    YUBA_RETURN_IF_ERROR(AddSources(graph, order, folder_, options_, dims, graph_));
    YUBA_RETURN_IF_ERROR(AddCaches(pairs, new_rows, graph_));
    if (options_.train.has_value()) YUBA_RETURN_IF_ERROR(Tie());
    NodeTranslator translator(proto_, opset_, folder_, *options_.library, graph_);
    for (const int n : order.nodes) {
      const absl::Status status = translator.Translate(graph.node(n), n);
      if (!status.ok() && translator.unknown())
        return CheckSupported(proto_, order, opset_, *options_.library, {n, status});
      YUBA_RETURN_IF_ERROR(status);
    }
    const ::onnx::NodeProto none;
    NodeContext context(none, opset_, "output", folder_, *options_.library, graph_);
    const size_t first = graph_.outputs.size();
    FinishOutputs(graph, context, graph_);
    if (context.failed()) return context.status();
    if (graph_.evaluates) {
      YUBA_RETURN_IF_ERROR(LeaveOutNextValues(first));
    } else {
      YUBA_RETURN_IF_ERROR(AddCarried(graph, options_.state, graph_));
    }
    YUBA_RETURN_IF_ERROR(FinishCaches(context, graph_));
    CarryStatistics(graph_);
    if (options_.train.has_value())
      YUBA_RETURN_IF_ERROR(AddLoss(*options_.train, *options_.library, context, first, graph_));
    return NumberStreams(graph_);
  }

  // Makes one of parameters that are tied, and notes which others are equal.
  absl::Status Tie() {
    const ::onnx::NodeProto none;
    NodeContext context(none, opset_, "tie", folder_, *options_.library, graph_);
    YUBA_RETURN_IF_ERROR(TieParameters(ties_, context, graph_));
    if (graph_.entry > 0) return absl::OkStatus();
    for (std::string& line : EqualParameters(graph_)) graph_.notes.push_back(std::move(line));
    return absl::OkStatus();
  }

  // Evaluation changes no state: those outputs from `first` on that training carries are none of
  // it.
  absl::Status LeaveOutNextValues(size_t first) {
    if (graph_.seed >= 0) {
      return UserError(
          "--eval-every: the model draws random numbers besides those of dropouts, so ",
          "evaluation would change those of training; leave out --eval-every");
    }
    const auto is_next = [&](int output) {
      const std::string& name = graph_.values[output].name;
      const auto made = graph_.by_name.find(name);
      return options_.state.count(name) > 0 ||
             (made != graph_.by_name.end() && graph_.values[made->second].statistics);
    };
    std::vector<int>& outputs = graph_.outputs;
    outputs.erase(
        std::remove_if(outputs.begin() + static_cast<int64_t>(first), outputs.end(), is_next),
        outputs.end());
    return absl::OkStatus();
  }

  const std::string path_, folder_;
  const ImportOptions& options_;
  ::onnx::ModelProto proto_;
  std::vector<std::string> file_inputs_;
  std::vector<TieOptions> ties_;  // initializers that are one: by the flags, and by the file's word
  int nodes_ = 0;
  int64_t opset_ = 0;
  OnnxGraph graph_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Source>> ReadSource(const std::string& path,
                                                         const ImportOptions& options) {
  return Importer(path, options).Read();
}

absl::StatusOr<std::vector<std::string>> RestoreInitializers(const std::string& folder,
                                                             ::onnx::ModelProto& model) {
  ExportRecord record = ReadExportRecord(model.graph());
  YUBA_ASSIGN_OR_RETURN(RestoredParameters restored, RestoreParameters(folder, model, record));
  std::vector<std::string> names;
  for (std::vector<std::string>* some :
       {&restored.left_out, &restored.repeated, &restored.merged, &restored.shared})
    names.insert(names.end(), some->begin(), some->end());
  return names;
}

absl::StatusOr<std::map<std::string, FormedInitializer>> FormedInitializers(
    const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(::onnx::ModelProto model, ReadModelFile(path));
  ExportRecord record = ReadExportRecord(model.graph());
  std::map<std::string, FormedInitializer> formed;
  if (!record.SaysKinds()) return formed;
  YUBA_RETURN_IF_ERROR(Annotate(InlineFunctions(model), path));
  YUBA_RETURN_IF_ERROR(Annotate(RestoreParameters(FolderOf(path), model, record).status(), path));
  absl::StatusOr<FileGraph> order = OrderFileGraph(model.graph());
  if (!order.ok()) return Annotate(order.status(), path);
  for (auto& [name, role] : FindStoredRoles(model.graph(), record, *order).of) {
    if (!role.form.has_value()) continue;
    const ::onnx::TensorProto& tensor = *order->initializers.at(name);
    formed[name] = {*std::move(role.form), {tensor.dims().begin(), tensor.dims().end()}};
  }
  return formed;
}

}  // namespace yuba::onnx
