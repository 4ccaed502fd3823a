#include "compiler/import/batch.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/factors/build.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

// The nodes that the outputs need; gradients, which rules of operators add behind them, are none.
std::vector<bool> ForwardNodes(const Graph& graph, size_t outputs) {
  std::vector<bool> needed(graph.nodes.size(), false);
  std::vector<TensorId> open(graph.outputs.begin(),
                             graph.outputs.begin() + static_cast<int64_t>(outputs));
  while (!open.empty()) {
    const Tensor& tensor = graph.tensors[open.back()];
    open.pop_back();
    for (const NodeId node : tensor.producers) {
      if (needed[node]) continue;
      needed[node] = true;
      open.insert(open.end(), graph.nodes[node].operands.begin(), graph.nodes[node].operands.end());
    }
  }
  return needed;
}

}  // namespace

bool MeansBatch(const std::string& dim_name) {
  std::string letters;
  for (const char c : dim_name) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)))
      letters += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return letters == "batch" || letters == "batchsize" || letters == "batchdim" ||
         letters == "batchaxis";
}

BatchFinder::BatchFinder(const OnnxGraph& graph, const ImportOptions& options, OpenDims open)
    : graph_(graph), options_(options), open_(std::move(open)) {
  tensor_of_ = BuildGraph(graph, UnifyFactors(graph, true), model_);
  std::vector<bool> free;
  for (const Node& node : model_.graph.nodes)
    free.push_back(graph.uses[node.instance].mixes != Use::Mixes::kNo);
  flows_ = std::make_unique<DimFlows>(model_.graph,
                                      ForwardNodes(model_.graph, graph.outputs.size()), free);
}

absl::StatusOr<Batch> BatchFinder::Find(int entry) const {
  Batch batch;
  YUBA_ASSIGN_OR_RETURN(batch.dims, Given(entry));
  batch.known_by = "as --batch-dim says";
  if (batch.dims.empty()) {
    batch.dims = Named(entry);
    batch.known_by = "as the file names it";
  }
  if (batch.dims.empty()) Infer(entry, batch);
  Spread(entry, batch);
  AddOnes(entry, batch);
  Count(batch);
  return batch;
}

std::vector<int> BatchFinder::FlowsOf(Dim dim) const {
  std::vector<int> flows;
  const TensorId tensor = tensor_of_[dim.first];
  if (tensor < 0) return flows;
  const std::vector<std::vector<int64_t>>& dims = model_.graph.tensors[tensor].dims;
  int flat = 0;
  for (int d = 0; d < dim.second; ++d) flat += static_cast<int>(dims[d].size());
  for (size_t f = 0; f < dims[dim.second].size(); ++f, ++flat) {
    const int flow = flows_->Of(tensor, flat);
    if (flow >= 0) flows.push_back(flow);
  }
  return flows;
}

std::string BatchFinder::Text(Dim dim) const {
  return absl::StrCat("dimension ", dim.second, " of '", graph_.values[dim.first].name, "'");
}

std::string BatchFinder::LabelOf(NodeId node) const {
  return absl::StrCat("node '", model_.graph.nodes[node].from, "' (", model_.graph.nodes[node].op,
                      ")");
}

std::vector<int> BatchFinder::InputsOf(int entry) const {
  std::vector<int> inputs;
  for (const int input : graph_.inputs) {
    const int of = graph_.values[input].entry;
    if (of == entry || of == OnnxValue::kCommon) inputs.push_back(input);
  }
  return inputs;
}

absl::StatusOr<std::vector<BatchFinder::Dim>> BatchFinder::Given(int entry) const {
  std::vector<Dim> given;
  for (const BatchDim& flag : options_.batch_dims) {
    const size_t before = given.size();
    std::vector<std::string> names;
    for (const int input : InputsOf(entry)) {
      const OnnxValue& value = graph_.values[input];
      const auto rank = static_cast<int>(value.dims.size());
      for (int d = 0; d < rank; ++d) {
        const bool same = flag.input.empty() ? value.dim_names[d] == flag.symbol
                                             : value.name == flag.input && d == flag.dim;
        if (same) given.emplace_back(input, d);
      }
      names.push_back(absl::StrCat(value.name, " [", absl::StrJoin(value.dims, ", "), "]"));
    }
    if (given.size() > before) continue;
    return UserError(
        "--batch-dim ", flag.input.empty() ? flag.symbol : absl::StrCat(flag.input, ":", flag.dim),
        ": no input has such a dimension; the inputs are ", absl::StrJoin(names, ", "));
  }
  return given;
}

std::vector<BatchFinder::Dim> BatchFinder::Named(int entry) const {
  std::vector<Dim> named;
  for (const int input : InputsOf(entry)) {
    const OnnxValue& value = graph_.values[input];
    for (size_t d = 0; d < value.dims.size(); ++d) {
      if (MeansBatch(value.dim_names[d])) named.emplace_back(input, static_cast<int>(d));
    }
  }
  return named;
}

// From the dimensions that are known to all inputs: by flows, and by the file's symbols.
void BatchFinder::Spread(int entry, Batch& batch) const {
  const std::vector<Dim> known = std::move(batch.dims);
  batch.dims.clear();
  for (const Dim& dim : known) AddDim(dim, batch);
  bool more = true;
  while (more) {
    for (const int input : InputsOf(entry)) {
      for (size_t d = 0; d < graph_.values[input].dims.size(); ++d) {
        const Dim dim = {input, static_cast<int>(d)};
        const std::vector<int> flows = FlowsOf(dim);
        const auto in_batch = [&](int flow) { return batch.all.count(flow) > 0; };
        if (std::none_of(flows.begin(), flows.end(), in_batch)) continue;
        std::vector<Dim>& list = in_batch(flows[0]) ? batch.dims : batch.inside;
        if (std::count(list.begin(), list.end(), dim) == 0) list.push_back(dim);
      }
    }
    more = AddSymbols(entry, batch);
  }
}

// The dimension is the batch, all of it.
void BatchFinder::AddDim(Dim dim, Batch& batch) const {
  const std::vector<int> flows = FlowsOf(dim);
  batch.dims.push_back(dim);
  batch.all.insert(flows.begin(), flows.end());
  if (!flows.empty()) batch.outermost.insert(flows[0]);
}

// Nothing is seen to flow along a 1: of a batch of one, also where nobody says what it is, this is
// the same dimension of all inputs in which that is 1.
void BatchFinder::AddOnes(int entry, Batch& batch) const {
  const Dim first = batch.dims.empty() ? Dim{-1, 0} : batch.dims[0];
  const auto is_one = [&](int input) {
    const std::vector<int64_t>& dims = graph_.values[input].dims;
    return first.second < static_cast<int>(dims.size()) && dims[first.second] == 1;
  };
  const std::vector<int> inputs = InputsOf(entry);
  const bool ones = first.first >= 0 ? is_one(first.first)
                                     : std::all_of(inputs.begin(), inputs.end(), [&](int input) {
                                         return graph_.values[input].dims.empty() || is_one(input);
                                       });
  for (const int input : inputs) {
    const Dim dim = {input, first.second};
    if (!ones || !is_one(input)) continue;
    if (std::count(batch.dims.begin(), batch.dims.end(), dim) == 0) batch.dims.push_back(dim);
  }
}

// Adds the dimensions that the file calls as one of the batch's. Whether there were any.
bool BatchFinder::AddSymbols(int entry, Batch& batch) const {
  std::set<std::string> symbols;
  for (const Dim& dim : batch.dims) symbols.insert(graph_.values[dim.first].dim_names[dim.second]);
  symbols.erase("");
  bool added = false;
  for (const int input : InputsOf(entry)) {
    const OnnxValue& value = graph_.values[input];
    for (size_t d = 0; d < value.dims.size(); ++d) {
      const Dim dim = {input, static_cast<int>(d)};
      if (symbols.count(value.dim_names[d]) == 0) continue;
      if (std::count(batch.dims.begin(), batch.dims.end(), dim) > 0) continue;
      AddDim(dim, batch);
      added = true;
    }
  }
  return added;
}

// How many examples there are: as many as the shortest of the dimensions has elements. Others, as
// labels of all tokens in one dimension, have several for each.
void BatchFinder::Count(Batch& batch) const {
  Dim least = {-1, 0};
  for (const Dim& dim : batch.dims) {
    const int64_t size = graph_.values[dim.first].dims[dim.second];
    if (least.first >= 0 && size >= batch.examples) continue;
    batch.examples = size;
    least = dim;
  }
  for (const Dim& dim : batch.dims) {
    const int64_t size = graph_.values[dim.first].dims[dim.second];
    if (batch.examples > 0 && size % batch.examples == 0) continue;
    batch.sure = UserError(Text(least), " and ", Text(dim), " are both the batch, and have ",
                           batch.examples, " and ", size, " elements", kSayWhich);
  }
}

}  // namespace yuba::onnx
