#include "search/check/held.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "search/check/alike.h"
#include "search/check/memory.h"
#include "search/check/part_counts.h"

namespace yuba::search {
namespace {

using Numbers = std::shared_ptr<const std::vector<int64_t>>;

// By grid: the elements of the largest shard.
Numbers LargestShards(const Mesh& mesh, const Tensor& tensor, bool replicate,
                      const Demands& demands) {
  std::vector<int64_t> largest;
  for (const Grid& grid : EveryTensorGrid(mesh, tensor, replicate, demands)) {
    const std::vector<int> parts = PartsOf(grid);
    int64_t elements = 1;
    for (size_t d = 0; d < parts.size(); ++d) {
      elements *= (tensor.type.dims[d] + parts[d] - 1) / parts[d];
    }
    largest.push_back(elements);
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(largest));
}

// By operand, the result last, and by grid: the elements of the largest box on any device.
std::vector<Numbers> LargestBoxes(const Mesh& mesh, const Node& node,
                                  const std::vector<Grid>& grids) {
  const size_t operands = node.operands.size();
  std::vector<std::vector<int64_t>> largest(operands + 1);
  for (const Grid& grid : grids) {
    const NodeBoxes boxes = AnalyzeNode(*node.definition, CutIntoParts(mesh, grid), mesh);
    for (size_t o = 0; o <= operands; ++o) {
      int64_t most = 0;
      for (int device = 0; device < mesh.devices(); ++device) {
        most = std::max(most, Volume(o < operands ? boxes.reads[device][o] : boxes.writes[device]));
      }
      largest[o].push_back(most);
    }
  }
  std::vector<Numbers> result;
  for (std::vector<int64_t>& each : largest) {
    result.push_back(std::make_shared<const std::vector<int64_t>>(std::move(each)));
  }
  return result;
}

}  // namespace

HeldElements HeldByGrid(const Graph& graph, const Plan& plan, const PinsOfElements& pins) {
  const Mesh& mesh = plan.mesh;
  const bool replicate = plan.space.replicate == Replicate::kAuto;
  HeldElements held;
  std::map<std::tuple<std::vector<int64_t>, bool, Demands>, Numbers> shards;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    Numbers& known = shards[{tensor.type.dims, replicate || IsTransient(tensor), pins[t]}];
    if (known == nullptr) known = LargestShards(mesh, tensor, replicate, pins[t]);
    held.shards.push_back(known);
    held.sizes.push_back(static_cast<int>(known->size()));
  }
  const std::vector<size_t> alike = FirstAlike(graph, pins);
  std::map<size_t, std::vector<Numbers>> boxes;  // by the first node that is alike
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    held.boxes.emplace_back();
    held.sizes.push_back(0);
    if (!ReadBoxes(graph, static_cast<NodeId>(n), plan.proof.prices)) continue;
    const Node& node = graph.nodes[n];
    std::vector<Numbers>& known = boxes[alike[n]];
    if (known.empty()) {
      known = LargestBoxes(mesh, node,
                           EveryNodeGrid(mesh, *node.definition, IsCopy(graph, node),
                                         pins[graph.tensors.size() + n]));
    }
    held.boxes.back() = known;
    held.sizes.back() = static_cast<int>(known[0]->size());
  }
  return held;
}

}  // namespace yuba::search
