#include "compiler/import/onnx.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/factors/batch.h"
#include "compiler/import/factors/build.h"
#include "compiler/import/file/file_graph.h"
#include "compiler/import/file/functions.h"
#include "compiler/import/file/read.h"
#include "compiler/import/random_numbers.h"
#include "compiler/import/translate/caches.h"
#include "compiler/import/translate/sources.h"
#include "compiler/import/translate/table.h"
#include "compiler/simplify/invariants.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/regions/structure.h"

namespace yuba::onnx {

struct Source {
  std::string path;
  std::vector<std::string> file_inputs, file_outputs;  // as in Model
  int nodes = 0;                                       // in the file
  int64_t opset = 0;
  bool init = false;  // as in ImportOptions
  OnnxGraph graph;
};

namespace {

constexpr int64_t kOldestOpset = 6;

absl::StatusOr<int64_t> OpsetOf(const ::onnx::ModelProto& model) {
  for (const ::onnx::OperatorSetIdProto& opset : model.opset_import()) {
    if (!opset.domain().empty() && opset.domain() != "ai.onnx") continue;
    if (opset.version() < kOldestOpset)
      return UserError("the model is of opset ", opset.version(), "; ", kOldestOpset,
                       " is the oldest that is read: convert it (onnx.version_converter)");
    return opset.version();
  }
  for (const ::onnx::NodeProto& node : model.graph().node()) {
    if (node.domain().empty() || node.domain() == "ai.onnx")
      return UserError("the model does not say which version of ONNX's operators it uses");
  }
  return 0;
}

bool IsStandard(const ::onnx::NodeProto& node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

// The description with the operator's own name, by which users add operators; null where there is
// none, or where the table has a row for a standard operator.
const OpDescription* OwnEntry(const ::onnx::NodeProto& node, const OperatorLibrary& library) {
  return IsStandard(node) && FindRow(node.op_type()) != nullptr ? nullptr
                                                                : library.Find(node.op_type());
}

// For messages: "opset 17", or for a domain other than ONNX's "version 2 of com.example".
std::string VersionOf(const ::onnx::NodeProto& node, const ::onnx::ModelProto& model,
                      int64_t opset) {
  if (IsStandard(node)) return absl::StrCat("opset ", opset);
  for (const ::onnx::OperatorSetIdProto& import : model.opset_import()) {
    if (import.domain() == node.domain())
      return absl::StrCat("version ", import.version(), " of ", node.domain());
  }
  return absl::StrCat("the model names no version of ", node.domain());
}

absl::Status CheckSupported(const ::onnx::ModelProto& model, const FileGraph& order, int64_t opset,
                            const OperatorLibrary& library) {
  const ::onnx::GraphProto& graph = model.graph();
  std::vector<std::string> lines;
  for (const int n : std::set<int>(order.nodes.begin(), order.nodes.end())) {
    const ::onnx::NodeProto& node = graph.node(n);
    if (IsStandard(node) && FindRow(node.op_type()) != nullptr) continue;
    if (OwnEntry(node, library) != nullptr) continue;
    lines.push_back(absl::StrCat("  node ", NodeLabel(node, n), ": operator ",
                                 IsStandard(node) ? "" : node.domain() + ".", node.op_type(), " (",
                                 VersionOf(node, model, opset), ")"));
  }
  if (lines.empty()) return absl::OkStatus();
  return UserError(lines.size(), lines.size() == 1 ? " node has" : " nodes have",
                   " an operator that is not supported:\n", absl::StrJoin(lines, "\n"),
                   "\nDescribe it in a .tdl file under the operator's name and pass that with",
                   " --operators");
}

// Why there is no value of this name: "output 1 of node 'r' (Relu), which ...".
std::string WhyNotMade(const ::onnx::GraphProto& graph, const std::string& name) {
  for (int n = 0; n < graph.node_size(); ++n) {
    const auto& outputs = graph.node(n).output();
    const auto found = std::find(outputs.begin(), outputs.end(), name);
    if (found == outputs.end()) continue;
    return absl::StrCat("output ", found - outputs.begin(), " of node ",
                        NodeLabel(graph.node(n), n),
                        ", which the operator does not have or which is not supported");
  }
  return "an output that is not supported";
}

// Gives an output's dimensions the file's symbols, except symbols that inputs have for another
// size: nothing in a file makes sure that its symbols are consistent.
void NameDims(const ::onnx::ValueInfoProto& output, const std::map<std::string, int64_t>& sizes,
              OnnxValue& value) {
  const auto& shape = output.type().tensor_type().shape();
  if (shape.dim_size() != static_cast<int>(value.dims.size())) return;
  value.dim_names.clear();
  for (int d = 0; d < shape.dim_size(); ++d) {
    const std::string& name = shape.dim(d).dim_param();
    const auto size = sizes.find(name);
    const bool other = size != sizes.end() && size->second != value.dims[d];
    value.dim_names.push_back(other ? "" : name);
  }
}

std::map<std::string, int64_t> SizesOfSymbols(const OnnxGraph& graph) {
  std::map<std::string, int64_t> sizes;
  for (const int input : graph.inputs) {
    const OnnxValue& value = graph.values[input];
    if (graph.by_name.at(value.name) != input) continue;  // of another entry
    for (size_t d = 0; d < value.dims.size(); ++d) sizes[value.dim_names[d]] = value.dims[d];
  }
  sizes.erase("");
  return sizes;
}

// Makes each output of an entry a tensor of its own that a node computes: where it is an input, a
// constant or the same value as another output, a copy is added.
void FinishOutputs(const ::onnx::GraphProto& proto, NodeContext& context, OnnxGraph& graph) {
  std::set<int> taken;
  const std::map<std::string, int64_t> sizes = SizesOfSymbols(graph);
  for (const ::onnx::ValueInfoProto& output : proto.output()) {
    const auto found = graph.by_name.find(output.name());
    if (found == graph.by_name.end())
      return context.Fail("the graph's output '", output.name(), "' is ",
                          WhyNotMade(proto, output.name()));
    int value = found->second;
    const bool own =
        graph.values[value].kind == TensorKind::kActivation && taken.insert(value).second;
    if (!own) {
      value = context.Copy(value);
      if (context.failed()) return;
      taken.insert(value);
    }
    graph.outputs.push_back(value);
    graph.values[value].name = output.name();
    graph.values[value].entry = graph.entry;
    NameDims(output, sizes, graph.values[value]);
  }
}

// The number of the value of that name that may be a state.
absl::StatusOr<int> StateNamed(const std::string& name, const OnnxGraph& graph) {
  const auto found = graph.by_name.find(name);
  if (found != graph.by_name.end()) {
    const TensorKind kind = graph.values[found->second].kind;
    if (kind == TensorKind::kState || kind == TensorKind::kParameter) return found->second;
    if (kind == TensorKind::kConstant) {
      return UserError("'", name, "' is bound to a value, so it cannot change from step to step; ",
                       "leave out --bind or --state");
    }
  }
  return UserError("no node reads an input or initializer '", name,
                   "'; a state is one of those that the model reads");
}

std::string TypeText(const OnnxValue& value) {
  return absl::StrCat(Name(value.type), "[", absl::StrJoin(value.dims, ", "), "]");
}

// Fills in graph.carried from --state. Outputs are values of their own by now, the last ones of the
// graph.
absl::Status AddCarried(const ::onnx::GraphProto& proto,
                        const std::map<std::string, std::string>& pairs, OnnxGraph& graph) {
  std::set<std::string> taken;
  for (const auto& [next_name, state_name] : pairs) {
    const std::string flag = absl::StrCat("--state ", next_name, "=", state_name);
    const auto output =
        std::find_if(proto.output().begin(), proto.output().end(),
                     [&name = next_name](const auto& info) { return info.name() == name; });
    if (output == proto.output().end()) {
      return UserError(flag, ": the model has no output '", next_name,
                       "'; `yuba info` lists its outputs");
    }
    absl::StatusOr<int> state = StateNamed(state_name, graph);
    if (!state.ok()) return Annotate(state.status(), flag);
    if (!taken.insert(state_name).second) {
      return UserError(flag, ": '", state_name, "' has another next value already; ",
                       "leave out one of the flags");
    }
    const int next = *(graph.outputs.end() - (proto.output().end() - output));
    const OnnxValue &from = graph.values[next], &to = graph.values[*state];
    if (from.type != to.type || from.dims != to.dims) {
      return UserError(flag, ": the output is ", TypeText(from), ", the state ", TypeText(to),
                       "; a state keeps its type and shape");
    }
    graph.carried.push_back({*state, next, next_name});
  }
  return absl::OkStatus();
}

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

int64_t FlopsOf(const Graph& graph) {
  int64_t sum = 0;
  for (const Node& node : graph.nodes) {
    const int64_t flops = Flops(*node.definition, WholeRanges(*node.definition));
    if (__builtin_add_overflow(sum, flops, &sum)) return std::numeric_limits<int64_t>::max();
  }
  return sum;
}

// The inputs of the graph are those of source.graph, in the same order.
absl::Status CheckRebatched(const Source& source, const Graph& graph) {
  std::vector<TensorId> inputs;
  for (size_t i = 0; i < source.graph.inputs.size(); ++i) {
    const std::vector<int>& changed = source.graph.rebatched;
    if (std::find(changed.begin(), changed.end(), source.graph.inputs[i]) != changed.end())
      inputs.push_back(graph.inputs[i]);
  }
  const absl::Status checked = CheckBatch(graph, inputs);
  return checked.ok() ? checked : Annotate(checked, source.path);
}

// The pairs of source.carried in the model's graph, which is not carried yet.
absl::StatusOr<std::vector<compiler::CarriedPair>> CarriedPairs(const OnnxGraph& source,
                                                                const Graph& graph) {
  std::map<std::string, TensorId> stored;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (IsStored(tensor.kind)) stored[tensor.name] = static_cast<TensorId>(t);
  }
  std::vector<compiler::CarriedPair> pairs;
  for (const auto& [state, next, next_name] : source.carried) {
    const auto read = stored.find(source.values[state].name);
    if (read == stored.end()) {
      return UserError("--state ", next_name, "=", source.values[state].name,
                       ": no output needs the state, so there is nothing to carry; leave it out");
    }
    const auto output = std::find(source.outputs.begin(), source.outputs.end(), next);
    pairs.push_back({read->second, graph.outputs[output - source.outputs.begin()], next_name});
  }
  return pairs;
}

// What the entries add to caches, in the model's graph.
std::vector<compiler::CachedRows> CachedRowsOf(const OnnxGraph& source, const Graph& graph) {
  std::vector<compiler::CachedRows> rows;
  for (const OnnxGraph::Rows& added : source.rows) {
    const auto output = std::find(source.outputs.begin(), source.outputs.end(), added.present);
    const auto count = std::find_if(
        graph.tensors.begin(), graph.tensors.end(),
        [&](const Tensor& t) { return t.name == source.values[source.rows_used].name; });
    YUBA_CHECK(output != source.outputs.end() && count != graph.tensors.end());
    rows.push_back({graph.outputs[output - source.outputs.begin()], added.axis,
                    static_cast<TensorId>(count - graph.tensors.begin()), added.new_rows,
                    added.entry});
  }
  return rows;
}

absl::StatusOr<compiler::Model> ModelOf(std::shared_ptr<const Source> source, bool factors) {
  compiler::Model model;
  model.file = source->path;
  model.file_inputs = source->file_inputs;
  model.file_outputs = source->file_outputs;
  model.file_nodes = source->nodes;
  model.opset = source->opset;
  model.notes = source->graph.notes;
  BuildGraph(source->graph, UnifyFactors(source->graph, factors), model);
  YUBA_RETURN_IF_ERROR(CheckRebatched(*source, model.graph));
  compiler::ReplaceLiterals(model);
  compiler::RemoveViews(model);
  YUBA_RETURN_IF_ERROR(compiler::HideUnusedRows(model, CachedRowsOf(source->graph, model.graph)));
  compiler::ComposeMaps(model);
  compiler::PutInCanonicalOrder(model);
  YUBA_ASSIGN_OR_RETURN(const auto carried, CarriedPairs(source->graph, model.graph));
  compiler::CarryStates(model, carried);
  compiler::KnowConditions(model);
  if (source->graph.step >= 0) CountSteps(model.graph);
  if (source->init) compiler::MoveInvariantsToInit(model);
  model.graph_hash = compiler::HashOfGraph(model.graph);
  model.flops = FlopsOf(model.graph);
  model.source = std::move(source);
  return model;
}

class Importer {
 public:
  Importer(const std::string& path, const ImportOptions& options)
      : path_(path), folder_(FolderOf(path)), options_(options) {}

  absl::StatusOr<std::shared_ptr<const Source>> Read() {
    YUBA_ASSIGN_OR_RETURN(proto_, ReadModelFile(path_));
    const absl::Status read = ReadGraph();
    if (!read.ok()) return Annotate(read, path_);
    return std::make_shared<const Source>(Source{path_, std::move(file_inputs_), FileOutputs(),
                                                 proto_.graph().node_size(), opset_, options_.init,
                                                 std::move(graph_)});
  }

 private:
  absl::Status ReadGraph() {
    YUBA_RETURN_IF_ERROR(CheckEntries(options_.entries));
    YUBA_ASSIGN_OR_RETURN(opset_, OpsetOf(proto_));
    YUBA_RETURN_IF_ERROR(InlineFunctions(proto_));
    const ::onnx::GraphProto& graph = proto_.graph();
    YUBA_ASSIGN_OR_RETURN(const FileGraph order, OrderFileGraph(graph));
    for (const ::onnx::ValueInfoProto* input : order.inputs) file_inputs_.push_back(input->name());
    YUBA_RETURN_IF_ERROR(CheckSupported(proto_, order, opset_, *options_.library));
    if (options_.entries.empty()) return ReadEntry(order, options_.dims);
    graph_.entries.clear();
    for (const EntryOptions& entry : options_.entries) {
      graph_.entries.push_back({entry.name, entry.times});
    }
    for (const EntryOptions& entry : options_.entries) {
      std::map<std::string, int64_t> dims = entry.dims;
      dims.insert(options_.dims.begin(), options_.dims.end());
      const absl::Status read = ReadEntry(order, dims);
      if (!read.ok()) return Annotate(read, absl::StrCat("entry ", entry.name));
      NoteEarlier();
      ++graph_.entry;
    }
    for (OnnxValue& value : graph_.values) {
      if (value.name.empty() || value.entry == OnnxValue::kCommon) continue;
      value.name = NameInEntry(graph_.entries, value.entry, value.name);
    }
    return absl::OkStatus();
  }

  std::vector<std::string> FileOutputs() const {
    std::vector<std::string> names;
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
  }

  // The whole file at these sizes, behind what graph_ has already. How many rows an entry adds to
  // its caches follows from the translation, which needs it for the sizes of masks: so it is tried
  // with one row, with what the translation finds then, and with each size that was given.
  absl::Status ReadEntry(const FileGraph& order, const std::map<std::string, int64_t>& dims) {
    YUBA_ASSIGN_OR_RETURN(const std::vector<CachePair> pairs,
                          FindCaches(proto_.graph(), options_.caches));
    if (pairs.empty()) return ReadEntryWith(order, dims, pairs, 0);
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
      const absl::Status read = ReadEntryWith(order, dims, pairs, rows);
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

  absl::Status ReadEntryWith(const FileGraph& order, std::map<std::string, int64_t> dims,
                             const std::vector<CachePair>& pairs, int64_t new_rows) {
    const ::onnx::GraphProto& graph = proto_.graph();
    if (!pairs.empty()) {
      if (dims.count(pairs[0].symbol) > 0) {
        return UserError("--dim ", pairs[0].symbol,
                         ": the length of the caches is that of --cache; ", "leave it out");
      }
      dims[pairs[0].symbol] = pairs[0].length - new_rows;
    }
    YUBA_RETURN_IF_ERROR(AddSources(graph, order, folder_, options_, dims, graph_));
    YUBA_RETURN_IF_ERROR(AddCaches(pairs, new_rows, graph_));
    for (const int n : order.nodes) {
      const ::onnx::NodeProto& node = graph.node(n);
      const absl::Status status = Translate(node, n);
      if (!status.ok())
        return Annotate(status, absl::StrCat("node ", NodeLabel(node, n), ", ",
                                             VersionOf(node, proto_, opset_)));
    }
    const ::onnx::NodeProto none;
    NodeContext context(none, opset_, "output", folder_, *options_.library, graph_);
    FinishOutputs(graph, context, graph_);
    if (context.failed()) return context.status();
    YUBA_RETURN_IF_ERROR(NumberStreams(graph_));
    YUBA_RETURN_IF_ERROR(AddCarried(graph, options_.state, graph_));
    return FinishCaches(context, graph_);
  }

  absl::Status Translate(const ::onnx::NodeProto& node, int position) {
    const std::string label =
        node.name().empty() ? absl::StrCat(node.op_type(), "_", position) : node.name();
    NodeContext context(node, opset_, label, folder_, *options_.library, graph_);
    for (int i = 0; i < node.input_size() && !context.failed(); ++i) {
      if (!node.input(i).empty() && context.Optional(i) < 0)
        context.Fail("its operand '", node.input(i), "' is ",
                     WhyNotMade(proto_.graph(), node.input(i)));
    }
    if (const OpDescription* own = OwnEntry(node, *options_.library))
      TranslateByName(*own, context);
    else if (CacheSlot* slot = CacheOf(context, graph_))
      TranslateCacheWrite(context, *slot, graph_);
    else if (!context.failed())
      TranslateNode(*FindRow(node.op_type()), context);
    return context.status();
  }

  const std::string path_, folder_;
  const ImportOptions& options_;
  ::onnx::ModelProto proto_;
  std::vector<std::string> file_inputs_;
  int64_t opset_ = 0;
  OnnxGraph graph_;
};

}  // namespace

absl::StatusOr<compiler::Model> ImportOnnx(const std::string& path, const ImportOptions& options) {
  YUBA_CHECK(options.library != nullptr);
  YUBA_ASSIGN_OR_RETURN(std::shared_ptr<const Source> source, Importer(path, options).Read());
  return ModelOf(std::move(source), options.factors);
}

absl::StatusOr<compiler::Model> WithFactors(const compiler::Model& model, bool factors) {
  if (model.source == nullptr) {
    return absl::FailedPreconditionError("the model was not read from its file by this process");
  }
  return ModelOf(model.source, factors);
}

}  // namespace yuba::onnx
