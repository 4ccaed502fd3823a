#include "search/plan/price_scale.h"

#include <algorithm>

#include "opsemantics/base/element_type.h"

namespace yuba::search {

int64_t MostInProof(const Graph& graph) {
  size_t numbers = 2 + graph.tensors.size() + graph.nodes.size();
  for (const Node& node : graph.nodes) numbers += 4 * (1 + node.operands.size());
  return (int64_t{1} << 62) / static_cast<int64_t>(numbers);
}

double MostMovedByUse(const Tensor& tensor, int devices) {
  double bytes = ByteSize(AccumulatorType(tensor.type.type));
  for (const int64_t extent : tensor.type.dims) bytes *= static_cast<double>(extent);
  return 2.0 * devices * bytes;
}

PriceScale PriceScaleOf(const Graph& graph, int devices) {
  double dearest = 0;
  for (const Tensor& tensor : graph.tensors) {
    dearest = std::max(dearest, MostMovedByUse(tensor, devices));
  }
  int64_t times = 1;
  for (const Entry& entry : graph.entries) times = std::max(times, entry.times);
  dearest *= static_cast<double>(times);
  PriceScale scale;
  scale.most = MostInProof(graph);
  const auto most = static_cast<double>(scale.most);
  while (scale.units > 1 && dearest * static_cast<double>(scale.units) > most) scale.units /= 2;
  return scale;
}

}  // namespace yuba::search
