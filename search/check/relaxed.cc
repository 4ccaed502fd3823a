#include "search/check/relaxed.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "opsemantics/base/status.h"
#include "search/check/alike.h"
#include "search/check/part_counts.h"
#include "search/check/pins.h"
#include "search/plan/kernel_time.h"

namespace yuba::search {
namespace {

// By grid: what the node's kernel costs.
std::shared_ptr<const std::vector<int64_t>> KernelTimes(const Graph& graph, NodeId node,
                                                        const std::vector<Grid>& grids,
                                                        const Objective& objective) {
  std::vector<int64_t> times;
  for (const Grid& grid : grids) {
    times.push_back(TimesOf(graph, node) * KernelTime(graph, node, grid, objective));
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(times));
}

absl::Status NoGrid(const std::string& name) {
  return ProofError("no grid of ", name, " may meet its pin");
}

}  // namespace

absl::StatusOr<RelaxedTables> MakeRelaxedTables(const Graph& graph, const Mesh& mesh,
                                                const Space& space, bool alike_copies,
                                                const Stop& stop) {
  YUBA_ASSIGN_OR_RETURN(const PinsOfElements pins, PinsOf(graph, mesh, space));
  const bool replicate = space.replicate == Replicate::kAuto;
  RelaxedTables tables;
  // By dimensions, whether axes may be left out, and pins.
  std::map<std::tuple<std::vector<int64_t>, bool, Demands>, std::vector<Grid>> tensor_grids;
  const auto grids_of = [&](TensorId id) -> std::vector<Grid>& {
    const Tensor& tensor = graph.tensors[id];
    return tensor_grids[{tensor.type.dims, replicate || IsTransient(tensor), pins[id]}];
  };
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    std::vector<Grid>& grids = grids_of(static_cast<TensorId>(t));
    if (grids.empty()) grids = EveryTensorGrid(mesh, graph.tensors[t], replicate, pins[t]);
    if (grids.empty()) return NoGrid(graph.tensors[t].name);
    tables.tensors.push_back(static_cast<int>(grids.size()));
  }
  UseTables use_tables(mesh, space.objective);
  const std::vector<size_t> first_alike = FirstAlike(graph, pins);
  std::vector<size_t> first;  // by node: its first use
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    YUBA_RETURN_IF_ERROR(GoOn(stop));
    first.push_back(tables.uses.size());
    const size_t alike = first_alike[n];
    std::vector<Grid> grids;
    if (alike == n) {
      grids = EveryNodeGrid(mesh, *node.definition, IsCopy(graph, node),
                            pins[graph.tensors.size() + n]);
      if (grids.empty()) return NoGrid(node.name);
    }
    tables.nodes.push_back(alike < n ? tables.nodes[alike] : static_cast<int>(grids.size()));
    if (space.objective.IsTime()) {
      const auto id = static_cast<NodeId>(n);
      tables.kernels.push_back(alike < n ? tables.kernels[alike]
                                         : KernelTimes(graph, id, grids, space.objective));
    }
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o) {
      RelaxedTables::Use use;
      use.node = static_cast<int>(n);
      use.tensor = o < 0 ? node.result : node.operands[o];
      if (alike < n) {
        use.cost = tables.uses[first[alike] + o + 1].cost;
        use.alike = tables.uses[first[alike] + o + 1].alike;
      } else if (alike_copies && o < 0 && IsCopy(graph, node) && grids == grids_of(use.tensor)) {
        use.alike = true;
      } else {
        use.cost = use_tables.Of(*node.definition, o, TimesOf(graph, static_cast<NodeId>(n)), grids,
                                 grids_of(use.tensor));
      }
      tables.uses.push_back(std::move(use));
    }
  }
  return tables;
}

}  // namespace yuba::search
