#include "compiler/cluster/products.h"

#include <algorithm>

#include "opsemantics/definition/opaque.h"
#include "opsemantics/gradient/slopes.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

int Outputs(const Definition& definition) {
  return static_cast<int>(std::count_if(definition.indices.begin(), definition.indices.end(),
                                        [](const Index& index) { return !index.reduction; }));
}

// What the node computes where partials that it reads are whole: of an accumulator the sum.
Definition WholeMapOf(const Node& node) {
  const Definition& definition = *node.definition;
  return definition.partial_operands.empty() ? definition : InGroups(definition, 1);
}

bool IsReadOnlyBy(const Tensor& tensor, NodeId reader) {
  const bool transient =
      tensor.kind == TensorKind::kActivation || tensor.kind == TensorKind::kPartial;
  return transient && !tensor.output && tensor.consumers == std::vector<NodeId>{reader};
}

}  // namespace

bool IsProduct(const Definition& definition) {
  if (IsOpaque(definition)) return false;
  if (MatchContraction(definition)) return true;
  const auto convolution = MatchConvolution(definition);
  return convolution.has_value() && convolution->output == ProductTensor::kResult;
}

bool IsPostOpOf(const Node& before, const Node& next) {
  const auto operand = std::find(next.operands.begin(), next.operands.end(), before.result);
  const int shared = Outputs(*before.definition);
  const Definition map = WholeMapOf(next);
  return operand != next.operands.end() && Outputs(*next.definition) == shared &&
         std::equal(before.definition->indices.begin(), before.definition->indices.begin() + shared,
                    next.definition->indices.begin(),
                    [](const Index& a, const Index& b) { return a.extent == b.extent; }) &&
         MatchPostOpsAndSlopes(map, static_cast<int>(operand - next.operands.begin())).has_value();
}

std::vector<Cluster> FindProducts(const Graph& graph) {
  std::vector<Cluster> products;
  const auto count = static_cast<NodeId>(graph.nodes.size());
  for (NodeId id = 0; id < count; ++id) {
    const Node& product = graph.nodes[id];
    if (!IsProduct(*product.definition)) continue;
    Cluster cluster;
    cluster.shared = Outputs(*product.definition);
    cluster.entry = product.entry;
    cluster.results = {product.result};
    for (NodeId next = id + 1; next < count; ++next) {
      const Node& before = graph.nodes[next - 1];
      if (graph.nodes[next].entry != cluster.entry ||
          !IsReadOnlyBy(graph.tensors[before.result], next) ||
          !IsPostOpOf(before, graph.nodes[next])) {
        break;
      }
      cluster.results.push_back(graph.nodes[next].result);
    }
    if (cluster.results.size() > 1 && cluster.shared > 0) products.push_back(std::move(cluster));
  }
  return products;
}

}  // namespace yuba::compiler
