// Batches of other sizes: the second half of batch.h.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/batch.h"
#include "compiler/import/loss.h"
#include "compiler/import/stored_batch.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

bool IsFirstOpen(const ::onnx::ValueInfoProto& input, const std::map<std::string, int64_t>& dims) {
  const auto& shape = input.type().tensor_type().shape();
  return shape.dim_size() > 0 && !shape.dim(0).dim_param().empty() &&
         dims.count(shape.dim(0).dim_param()) == 0;
}

// The symbols that are the batch, each with an input that has it.
std::map<std::string, std::string> SymbolsOfBatch(
    const std::vector<const ::onnx::ValueInfoProto*>& inputs, const ImportOptions& options,
    const std::map<std::string, int64_t>& dims) {
  std::map<std::string, std::string> given, named, first;
  for (const ::onnx::ValueInfoProto* input : inputs) {
    const auto& shape = input->type().tensor_type().shape();
    for (int d = 0; d < shape.dim_size(); ++d) {
      const std::string& symbol = shape.dim(d).dim_param();
      if (symbol.empty()) continue;
      for (const BatchDim& flag : options.batch_dims) {
        const bool same = flag.input.empty() ? symbol == flag.symbol
                                             : input->name() == flag.input && d == flag.dim;
        if (same) given.emplace(symbol, input->name());
      }
      if (MeansBatch(symbol)) named.emplace(symbol, input->name());
    }
    if (IsFirstOpen(*input, dims)) first.emplace(shape.dim(0).dim_param(), input->name());
  }
  return !options.batch_dims.empty() ? given : !named.empty() ? named : first;
}

}  // namespace

absl::StatusOr<std::map<std::string, int64_t>> WithBatch(const FileGraph& order,
                                                         const ImportOptions& options,
                                                         std::map<std::string, int64_t> dims) {
  if (!options.batch.has_value()) return dims;
  std::vector<const ::onnx::ValueInfoProto*> inputs;
  for (const ::onnx::ValueInfoProto* input : order.inputs) {
    if (options.bind.count(input->name()) == 0) inputs.push_back(input);
  }
  const std::map<std::string, std::string> symbols = SymbolsOfBatch(inputs, options, dims);
  const bool known = !options.batch_dims.empty() ||
                     std::all_of(symbols.begin(), symbols.end(),
                                 [](const auto& symbol) { return MeansBatch(symbol.first); });
  if (symbols.size() > 1 && !known) {
    std::vector<std::string> names;
    for (const auto& [symbol, input] : symbols) names.push_back(symbol);
    return UserError("--batch ", *options.batch, ": the batch may be ",
                     absl::StrJoin(names, " or "), "; say which by --batch-dim NAME, and give the ",
                     "others by --dim NAME=N");
  }
  for (const auto& [symbol, input] : symbols) {
    const int64_t size = dims.emplace(symbol, *options.batch).first->second;
    if (size == *options.batch) continue;
    return UserError("--batch ", *options.batch, " and --dim ", symbol, "=", size,
                     " are two lengths of the batch, a dimension of input '", input,
                     "': give one of them");
  }
  return dims;
}

absl::Status BatchFinder::CheckCut(const Batch& batch, int64_t examples, int64_t parts) const {
  const std::string flag = parts > 1 ? absl::StrCat("--micro-batches ", parts, ": ")
                                     : absl::StrCat("--batch ", examples, ": ");
  if (!batch.sure.ok()) return UserError(flag, batch.sure.message());
  if (batch.dims.empty()) {
    return UserError(flag, "no input of the model has a dimension that counts examples");
  }
  const Dim first = batch.dims[0];
  if (examples % parts != 0) {
    return UserError(flag, "input '", graph_.values[first.first].name, "' has ", examples,
                     examples == 1 ? " example" : " examples",
                     " a step, which are not so many equal parts; --batch gives a step others");
  }
  if (parts == 1) return absl::OkStatus();
  for (const int flow : batch.all) {
    const AlongDim& along = flows_->First(flow);
    if (along.node < 0) continue;
    return UserError(flag, LabelOf(along.node), " ", along.does, " the batch, ", Text(first), ", ",
                     batch.known_by, ": the loss of the parts would not be that of the whole; ",
                     "--batch-dim says which other dimension is the batch");
  }
  std::set<int> inputs;
  for (const Dim& dim : batch.dims) {
    if (inputs.insert(dim.first).second) continue;
    return UserError(flag, "input '", graph_.values[dim.first].name,
                     "' has the batch in two dimensions; it cannot be cut");
  }
  if (!batch.inside.empty()) {
    return UserError(flag, Text(batch.inside[0]), " has the batch inside of another dimension, so ",
                     "that no part of it can be taken: give it these dimensions apart, or the ",
                     "batch first");
  }
  const bool labels = std::any_of(batch.dims.begin(), batch.dims.end(), [&](const Dim& dim) {
    return graph_.values[dim.first].name == kLabels;
  });
  if (labels || !options_.train->minimize.empty()) return absl::OkStatus();
  return UserError(flag, "the labels do not have the batch, ", Text(first), ", ", batch.known_by,
                   ", so it cannot be cut; --batch-dim says which other dimension is the batch");
}

absl::StatusOr<std::map<std::string, ValueAtBatch>> BatchFinder::At(const Batch& batch,
                                                                    int64_t examples) const {
  for (const int flow : batch.all) {
    const AlongDim& along = flows_->First(flow, true);
    if (along.node < 0) continue;
    return UserError(LabelOf(along.node), " ", along.does, " the batch, ", Text(batch.dims[0]),
                     ": --batch or --micro-batches cannot change it in this graph");
  }
  for (size_t v = 0; v < graph_.values.size(); ++v) {
    const std::string why = WhyStored(static_cast<int>(v), batch.all);
    if (why.empty()) continue;
    return UserError("'", graph_.values[v].name, "' has the batch, ", Text(batch.dims[0]),
                     ", written in, and is ", why,
                     ": export the model with that dimension symbolic");
  }
  std::map<std::string, ValueAtBatch> changed;
  for (const auto& [name, v] : graph_.by_name) {
    const TensorId id = tensor_of_[v];
    if (id < 0) continue;
    const Tensor& tensor = model_.graph.tensors[id];
    ValueAtBatch value;
    std::vector<int64_t> flat;
    for (const std::vector<int64_t>& factors : tensor.dims) {
      value.dims.push_back(1);
      for (int64_t factor : factors) {
        const int flow = flows_->Of(id, static_cast<int>(flat.size()));
        if (flow >= 0 && batch.outermost.count(flow) > 0) {
          if (factor * examples % batch.examples != 0) {
            return UserError("the batch of ", batch.examples, " is used as ", factor, " times ",
                             batch.examples / factor, " (", name, "), so that ", examples,
                             " examples are no part of it");
          }
          factor = factor * examples / batch.examples;
        }
        flat.push_back(factor);
        value.dims.back() *= factor;
      }
    }
    if (flat == tensor.type.dims) continue;
    const OnnxValue& stored = graph_.values[v];
    const bool bytes = stored.initial.kind == compiler::InitialValue::kData ||
                       stored.initial.kind == compiler::InitialValue::kFile;
    if (HasInitialValue(stored.kind) && stored.kind != TensorKind::kState && bytes) {
      YUBA_ASSIGN_OR_RETURN(value.data, AtOtherBatch(stored.initial, tensor.type, flat));
    }
    changed[name] = std::move(value);
  }
  return changed;
}

std::vector<std::string> BatchFinder::Notes(const Batch& batch, int entry, int64_t examples,
                                            int64_t parts) const {
  std::map<int, std::vector<std::string>> by_dim;
  std::set<int> with;
  for (const Dim& dim : batch.dims) {
    by_dim[dim.second].push_back(graph_.values[dim.first].name);
    with.insert(dim.first);
  }
  std::vector<std::string> dims, whole;
  for (const auto& [dim, names] : by_dim)
    dims.push_back(absl::StrCat("dimension ", dim, " of ", absl::StrJoin(names, " and ")));
  for (const int input : InputsOf(entry)) {
    if (with.count(input) == 0) whole.push_back(graph_.values[input].name);
  }
  std::vector<std::string> notes = {absl::StrCat(
      "batch: ", absl::StrJoin(dims, ", "), ", ", batch.known_by, "; ", examples,
      examples == 1 ? " example" : " examples", " a step",
      parts > 1 ? absl::StrCat(", in ", parts, " parts of ", examples / parts) : "",
      whole.empty() ? "" : absl::StrCat("; without it: ", absl::StrJoin(whole, ", ")))};
  std::vector<std::string> stored;
  for (size_t v = 0; v < graph_.values.size(); ++v) {
    const std::vector<bool> has = HasAlong(static_cast<int>(v), batch.all);
    const bool changes =
        options_.train.has_value() && graph_.values[v].stored && examples / parts != batch.examples;
    if (changes && std::count(has.begin(), has.end(), true) > 0)
      stored.push_back(graph_.values[v].name);
  }
  if (!stored.empty()) {
    notes.push_back(absl::StrCat(
        "stored with a batch of ", batch.examples,
        ", the same for all examples, and not trained: ", absl::StrJoin(stored, ", ")));
  }
  std::vector<std::string> statistics;
  for (const int flow : batch.all) {
    const NodeId node = flows_->FirstFree(flow);
    if (node < 0 || parts == 1) continue;
    if (graph_.uses[model_.graph.nodes[node].instance].mixes == Use::Mixes::kStatistics)
      statistics.push_back(LabelOf(node));
  }
  if (!statistics.empty()) {
    notes.push_back(
        absl::StrCat("statistics of the batch are those of each part, as in ", statistics[0]));
  }
  return notes;
}

}  // namespace yuba::onnx
