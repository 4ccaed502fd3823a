#include "search/baselines/batch.h"

#include <algorithm>

#include "search/baselines/steps.h"
#include "search/space/dim_names.h"

namespace yuba::search {
namespace {

void CutBatch(const std::vector<int>& dim_names, Restriction* restriction) {
  std::vector<bool> batch;
  for (int dim_name : dim_names) batch.push_back(dim_name == 0);
  if (std::count(batch.begin(), batch.end(), true) > 0) *restriction = Along(batch);
}

}  // namespace

Restrictions OnTheBatch(const Graph& graph) {
  const NamedDims dim_names = PropagateDimNames(graph, BatchOfInputs(graph));
  Restrictions restrictions = Unrestricted(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t)
    CutBatch(dim_names.tensors[t], &restrictions[t]);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    CutBatch(dim_names.nodes[n], &restrictions[graph.tensors.size() + n]);
  }
  return restrictions;
}

bool IsStoredBefore(const Tensor& tensor) {
  return tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
}

}  // namespace yuba::search
