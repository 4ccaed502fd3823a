#include "search/space/dim_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "opsemantics/regions/along.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/sharding/work.h"

namespace yuba::search {
namespace {

TensorDimNames NoDimNames(const Graph& graph) {
  TensorDimNames dim_names;
  for (const Tensor& tensor : graph.tensors) dim_names.emplace_back(tensor.type.dims.size(), -1);
  return dim_names;
}

// Sets the name 0 on dimension `dim` of the tensor.
void Name0(const Tensor& tensor, size_t dim, std::vector<int>& dim_names) {
  size_t flat = 0;
  for (size_t d = 0; d < dim; ++d) flat += tensor.dims[d].size();
  std::fill_n(dim_names.begin() + static_cast<int64_t>(flat), tensor.dims[dim].size(), 0);
}

// 0 on dimension `dim` of the inputs in which it has the most frequent extent above 1; of equally
// frequent extents the first.
TensorDimNames AgreedDim(const Graph& graph, size_t dim) {
  TensorDimNames dim_names = NoDimNames(graph);
  const auto extent_of = [&](TensorId id) {
    const std::vector<int64_t> dims = WholeDims(graph.tensors[id]);
    return dim < dims.size() ? dims[dim] : 1;
  };
  std::map<int64_t, int> votes;
  int64_t agreed = 0;
  for (TensorId id : graph.inputs) ++votes[extent_of(id)];
  for (TensorId id : graph.inputs) {
    const int64_t extent = extent_of(id);
    if (extent > 1 && (agreed == 0 || votes[extent] > votes[agreed])) agreed = extent;
  }
  for (TensorId id : graph.inputs) {
    const Tensor& tensor = graph.tensors[id];
    if (agreed == 0 || extent_of(id) != agreed) continue;
    Name0(tensor, dim, dim_names[id]);
  }
  return dim_names;
}

// The operations of the nodes that have the name 0 along indices of their results alone: each
// element along it is computed by itself there.
double WorkAlong(const Graph& graph, const TensorDimNames& seeds) {
  const NamedDims named = PropagateDimNames(graph, seeds);
  double work = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Definition& definition = *graph.nodes[n].definition;
    bool along = false, mixed = false;
    for (size_t i = 0; i < definition.indices.size(); ++i) {
      if (named.nodes[n][i] != 0) continue;
      along = true;
      mixed |= definition.indices[i].reduction;
    }
    if (along && !mixed) work += WorkOf(definition, WholeRanges(definition)).operations;
  }
  return work;
}

}  // namespace

NamedDims PropagateDimNames(const Graph& graph, TensorDimNames seeds) {
  NamedDims dim_names;
  dim_names.tensors = std::move(seeds);
  for (const Node& node : graph.nodes) {
    const Definition& definition = *node.definition;
    std::vector<int> indices(definition.indices.size(), -1);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const std::vector<int> along = IndicesAlong(definition, static_cast<int>(o));
      const std::vector<int>& dims = dim_names.tensors[node.operands[o]];
      for (size_t d = 0; d < along.size(); ++d) {
        if (along[d] < 0 || indices[along[d]] >= 0) continue;
        const bool whole = definition.indices[along[d]].extent == definition.operands[o].dims[d];
        if (whole) indices[along[d]] = dims[d];
      }
    }
    for (size_t d = 0; d < definition.left.size(); ++d) {
      const int index = definition.left[d].BareIndex();
      int& dim_name = dim_names.tensors[node.result][d];
      if (index >= 0 && dim_name < 0) dim_name = indices[index];
    }
    dim_names.nodes.push_back(std::move(indices));
  }
  return dim_names;
}

DimNames NamesOfDims(const Graph& graph) {
  DimNames result{{}, NoDimNames(graph)};
  std::vector<std::string>& names = result.names;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    size_t flat = 0;
    for (size_t d = 0; d < tensor.dim_names.size(); flat += tensor.dims[d++].size()) {
      const std::string& name = tensor.dim_names[d];
      if (name.empty()) continue;
      const auto at = std::find(names.begin(), names.end(), name);
      const int dim_name = static_cast<int>(at - names.begin());
      if (at == names.end()) names.push_back(name);
      std::vector<int>& dim_names = result.dim_names[t];
      std::fill_n(dim_names.begin() + flat, tensor.dims[d].size(), dim_name);
    }
  }
  return result;
}

namespace {

// Batch dimensions of inputs, and those of other tensors, as caches, that the model calls alike.
TensorDimNames KnownBatch(const Graph& graph) {
  TensorDimNames known = NoDimNames(graph);
  std::set<std::string> symbols;
  for (const TensorId id : graph.inputs) {
    const Tensor& tensor = graph.tensors[id];
    if (tensor.batch_dim < 0) continue;
    const auto dim = static_cast<size_t>(tensor.batch_dim);
    Name0(tensor, dim, known[id]);
    if (dim < tensor.dim_names.size()) symbols.insert(tensor.dim_names[dim]);
  }
  symbols.erase("");
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    for (size_t d = 0; d < tensor.dim_names.size(); ++d) {
      if (symbols.count(tensor.dim_names[d]) > 0) Name0(tensor, d, known[t]);
    }
  }
  return known;
}

}  // namespace

bool HasBatch(const Graph& graph) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](TensorId id) { return graph.tensors[id].batch_dim >= 0; });
}

TensorDimNames BatchOfInputs(const Graph& graph) {
  if (HasBatch(graph)) return KnownBatch(graph);
  TensorDimNames first = AgreedDim(graph, 0), second = AgreedDim(graph, 1);
  return WorkAlong(graph, second) > WorkAlong(graph, first) ? second : first;
}

int64_t BatchSize(const Graph& graph, const TensorDimNames& batch) {
  for (TensorId id : graph.inputs) {
    int64_t size = 1;
    for (size_t d = 0; d < batch[id].size(); ++d) {
      if (batch[id][d] == 0) size *= graph.tensors[id].type.dims[d];
    }
    if (size > 1) return size;
  }
  return 1;
}

}  // namespace yuba::search
