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

// Whether names or --batch-dim say which of these is the batch.
bool IsKnown(const OpenDims& open, const ImportOptions& options) {
  return !options.batch_dims.empty() || std::any_of(open.begin(), open.end(), [](const auto& dim) {
    return MeansBatch(dim.second);
  });
}

}  // namespace

OpenDims FindOpenDims(const FileGraph& order, const ImportOptions& options,
                      const std::map<std::string, int64_t>& dims) {
  OpenDims open;
  for (const ::onnx::ValueInfoProto* input : order.inputs) {
    if (options.bind.count(input->name()) > 0 || order.unread.count(input->name()) > 0) continue;
    const auto& shape = input->type().tensor_type().shape();
    for (int d = 0; d < shape.dim_size(); ++d) {
      const std::string& symbol = shape.dim(d).dim_param();
      if (shape.dim(d).has_dim_value() || dims.count(symbol) > 0) continue;
      if (!symbol.empty() || d == 0) open[{input->name(), d}] = symbol;
    }
  }
  return open;
}

std::map<std::string, int64_t> WithTrial(const OpenDims& open, const ImportOptions& options,
                                         std::map<std::string, int64_t> dims) {
  const int64_t asked = options.batch.value_or(1);
  // Nothing is seen to flow along a 1.
  const int64_t length = IsKnown(open, options) ? asked : std::max<int64_t>(asked, 2);
  for (const auto& [dim, symbol] : open) dims.emplace(symbol, length);
  return dims;
}

absl::Status WhyNoTrial(const absl::Status& failed, const OpenDims& open,
                        const ImportOptions& options) {
  std::set<std::string> symbols;
  for (const auto& [dim, symbol] : open) symbols.insert(symbol);
  symbols.erase("");
  if (symbols.empty() || (symbols.size() == 1 && *options.batch > 1)) return failed;
  const std::string flag = absl::StrCat("--batch ", *options.batch, " may be the length of ",
                                        absl::StrJoin(symbols, " or "), "; ");
  return Annotate(failed, absl::StrCat(flag, "give by --dim NAME=N what it is not, or all of them ",
                                       "instead of --batch. With one length for each"));
}

absl::StatusOr<std::map<std::string, int64_t>> BatchFinder::Lengths(
    const Batch& batch, std::map<std::string, int64_t> dims) const {
  if (!options_.batch.has_value()) return dims;
  const int64_t length = *options_.batch;
  for (const auto& [input, dim] : batch.dims) {
    const OnnxValue& value = graph_.values[input];
    const std::string& symbol = value.dim_names[dim];
    const auto given = dims.find(symbol);
    if (open_.count({value.name, dim}) > 0) {
      dims[symbol] = length;
    } else if (!symbol.empty() && given != dims.end() && batch.examples != length) {
      return UserError("--batch ", length, " and --dim ", symbol, "=", given->second,
                       " are two lengths of the batch, a dimension of input '", value.name,
                       "': give one of them");
    }
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
    const bool in_file = graph_.values[v].stored;
    return UserError("'", graph_.values[v].name, "', ", why, ", has the batch, ",
                     Text(batch.dims[0]),
                     in_file ? ", written in: export the model with that dimension symbolic"
                             : ": --batch or --micro-batches cannot change it in this graph");
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
