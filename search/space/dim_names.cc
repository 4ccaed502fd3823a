#include "search/space/dim_names.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/types/optional.h"

namespace yuba::search {
namespace {

TensorLabels NoLabels(const Graph& graph) {
  TensorLabels labels;
  for (const Tensor& tensor : graph.tensors) labels.emplace_back(tensor.type.dims.size(), -1);
  return labels;
}

// 0 on the inputs' dimensions that the model calls so; nothing where all of them are 1 long.
absl::optional<TensorLabels> CalledBatch(const Graph& graph) {
  const DimNames called = NamesOfDims(graph);
  TensorLabels labels = NoLabels(graph);
  bool any = false;
  for (TensorId id : graph.inputs) {
    for (size_t d = 0; d < labels[id].size(); ++d) {
      const int label = called.labels[id][d];
      if (label < 0) continue;
      if (called.names[label] != "batch" && called.names[label] != "batch_size") continue;
      labels[id][d] = 0;
      any = any || graph.tensors[id].type.dims[d] > 1;
    }
  }
  if (!any) return absl::nullopt;
  return labels;
}

}  // namespace

std::vector<int> IndicesAlong(const Definition& definition, int operand) {
  std::vector<int> along(definition.operands[operand].dims.size(), -1);
  bool first = true;
  const auto visit = [&](const Expr& expr) {
    if (expr.kind != Expr::kRead || expr.operand != operand) return;
    for (size_t d = 0; d < along.size(); ++d) {
      const int index = expr.position[d].BareIndex();
      if (first)
        along[d] = index;
      else if (along[d] != index)
        along[d] = -1;
    }
    first = false;
  };
  Walk(definition.body, visit);
  for (const DataCondition& condition : definition.data_where) Walk(condition.value, visit);
  return along;
}

Labels FlowLabels(const Graph& graph, TensorLabels seeds) {
  Labels labels;
  labels.tensors = std::move(seeds);
  for (const Node& node : graph.nodes) {
    const Definition& definition = *node.definition;
    std::vector<int> indices(definition.indices.size(), -1);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const std::vector<int> along = IndicesAlong(definition, static_cast<int>(o));
      const std::vector<int>& dims = labels.tensors[node.operands[o]];
      for (size_t d = 0; d < along.size(); ++d) {
        if (along[d] < 0 || indices[along[d]] >= 0) continue;
        const bool whole = definition.indices[along[d]].extent == definition.operands[o].dims[d];
        if (whole) indices[along[d]] = dims[d];
      }
    }
    for (size_t d = 0; d < definition.left.size(); ++d) {
      const int index = definition.left[d].BareIndex();
      int& label = labels.tensors[node.result][d];
      if (index >= 0 && label < 0) label = indices[index];
    }
    labels.nodes.push_back(std::move(indices));
  }
  return labels;
}

DimNames NamesOfDims(const Graph& graph) {
  DimNames result{{}, NoLabels(graph)};
  std::vector<std::string>& names = result.names;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    size_t flat = 0;
    for (size_t d = 0; d < tensor.dim_names.size(); flat += tensor.dims[d++].size()) {
      const std::string& name = tensor.dim_names[d];
      if (name.empty()) continue;
      const auto at = std::find(names.begin(), names.end(), name);
      const int label = static_cast<int>(at - names.begin());
      if (at == names.end()) names.push_back(name);
      std::vector<int>& labels = result.labels[t];
      std::fill_n(labels.begin() + flat, tensor.dims[d].size(), label);
    }
  }
  return result;
}

TensorLabels BatchOfInputs(const Graph& graph) {
  if (absl::optional<TensorLabels> called = CalledBatch(graph)) return *std::move(called);
  TensorLabels labels = NoLabels(graph);
  std::map<int64_t, int> votes;
  int64_t batch = 0;
  for (TensorId id : graph.inputs) {
    const std::vector<int64_t> dims = WholeDims(graph.tensors[id]);
    if (!dims.empty() && dims[0] > 1) ++votes[dims[0]];
  }
  for (TensorId id : graph.inputs) {  // of equally many the first
    const std::vector<int64_t> dims = WholeDims(graph.tensors[id]);
    if (!dims.empty() && dims[0] > 1 && (batch == 0 || votes[dims[0]] > votes[batch]))
      batch = dims[0];
  }
  for (TensorId id : graph.inputs) {
    const Tensor& tensor = graph.tensors[id];
    const std::vector<int64_t> dims = WholeDims(tensor);
    if (dims.empty() || dims[0] != batch) continue;
    for (size_t factor = 0; factor < tensor.dims[0].size(); ++factor) labels[id][factor] = 0;
  }
  return labels;
}

}  // namespace yuba::search
