// Tensor parallelism as Megatron-LM has it (Shoeybi et al., "Megatron-LM: training multi-billion
// parameter language models using model parallelism", 2019), with the sequence parallelism of
// Korthikanti et al. ("Reducing activation recomputation in large transformer models", 2022).
//
// What is cut how is in megatron_rules.h. Each all-reduce is written as one reduce-scatter and one
// all-gather, as sequence parallelism has them, which move the same bytes; the published form of
// that gathers two inputs of a layer once more in the backward pass, where a copy here waits for
// its last reader. Optimizer's states are cut as ZeRO-1 does.
#include <vector>

#include "absl/strings/str_cat.h"
#include "search/baselines/baselines.h"
#include "search/baselines/batch.h"
#include "search/baselines/megatron_rules.h"
#include "search/baselines/row_partner.h"
#include "search/baselines/weight_product.h"
#include "search/plan/weights.h"

namespace yuba::search {
namespace {

// Where heads do not divide evenly.
std::string WhyCutInside(const Graph& graph, int64_t devices) {
  const int64_t parts = PartsApart(graph);
  if (parts == 0 || parts % devices == 0) return "";
  return absl::StrCat("Megatron-LM gives each device whole heads, and the ", parts,
                      " of this model are not a multiple of ", devices,
                      " devices: here heads are cut too");
}

// Where the scheme is not made for the model.
std::string WhyNotPublished(const Graph& graph) {
  const std::vector<bool> weights = WeightTensors(graph);
  const auto products = WeightProducts(graph, weights);
  int columns = 0, convolutions = 0, rereads = 0;
  std::vector<int> read(graph.tensors.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!products[n].has_value()) continue;
    rereads += ++read[SourceOf(graph, graph.nodes[n].operands[products[n]->weight])] > 3;
    if (!HasRowPartner(graph, products, static_cast<NodeId>(n))) continue;
    ++columns;
    convolutions += products[n]->convolution;
  }
  if (columns == 0) {
    return "no product with a weight has another one behind it that could be row parallel, so "
           "only a vocabulary is cut";
  }
  if (convolutions > 0) {
    return "Megatron-LM has no plan of convolutions: here they alternate as products do";
  }
  if (rereads > 0) {
    return "Megatron-LM has no plan of recurrent layers: here every step cuts the weights as the "
           "first one does";
  }
  return "";
}

}  // namespace

Restrictions Megatron(const Graph& graph, const Mesh& group) {
  return CutAsMegatron(graph, group.devices());
}

bool SuitsMegatron(const Graph& graph, const Mesh& group) {
  const int64_t parts = PartsApart(graph);
  return parts == 0 || parts % group.devices() == 0;
}

std::string OfMegatron(const Graph& graph, const Plan& plan) {
  const int64_t devices = plan.mesh.devices() / ReplicasOfWeights(graph, plan);
  return Joined({WhyNotPublished(graph), WhyCutInside(graph, devices)});
}

std::string OfMegatronData(const Graph& graph, const Plan& plan) {
  const int64_t data = ReplicasOfWeights(graph, plan);
  return Joined({absl::StrCat("tensor parallel over ", plan.mesh.devices() / data,
                              ", data parallel over ", data, " devices"),
                 WhyNotFilled(graph, data), OfMegatron(graph, plan)});
}

}  // namespace yuba::search
