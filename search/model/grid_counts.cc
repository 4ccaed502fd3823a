#include "search/model/grid_counts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "search/plan/choice_space.h"
#include "search/space/grid_space.h"

namespace yuba::search {
namespace {

// Of all different tables of a search, at 12 bytes each.
constexpr int64_t kMostCells = int64_t{1} << 30;
constexpr int64_t kMostGrids = int64_t{1} << 20;  // of one element

// Counts grids, and the classes of grids that the terms of sums know apart.
class GridCounts {
 public:
  enum Axes { kAll, kAsOneKind, kOuter };

  explicit GridCounts(const Mesh& mesh) : meshes_{mesh, mesh, mesh} {
    for (MeshAxis& axis : meshes_[kAsOneKind].axes) axis.kind = 0;
    std::vector<MeshAxis>& outer = meshes_[kOuter].axes;
    outer.erase(std::remove_if(outer.begin(), outer.end(),
                               [](const MeshAxis& axis) { return axis.kind == 0; }),
                outer.end());
  }

  int64_t Of(const ChoiceSpace& space, Axes axes) {
    int64_t& grids = known_[{space.extents, space.cuttable, space.optional, axes}];
    if (grids == 0) grids = CountGrids(space, meshes_[axes], kMostGrids);
    return grids;
  }
  // Of the use's table, about; a little too few where parts are unequal, since terms then have more
  // classes.
  int64_t CellsOf(const UseCosts& use, const ChoiceSpace& tensor, const ChoiceSpace& node) {
    const int64_t rows = Of(tensor, kAll), columns = Of(node, kAll);
    if (std::max(rows, columns) >= kMostGrids) return kMostCells + 1;  // counted no further
    if (!use.IsSum(rows, columns)) return rows * columns;
    const ChoiceSpace& needs = use.gathers() ? node : tensor;
    const ChoiceSpace& has = use.gathers() ? tensor : node;
    return Of(needs, kAsOneKind) * Of(has, kAll) + Of(needs, kAll) * Of(has, kOuter);
  }

 private:
  Mesh meshes_[3];
  std::map<std::tuple<std::vector<int64_t>, std::vector<bool>, bool, Axes>, int64_t> known_;
};

}  // namespace

bool HasTooManyGrids(const Graph& graph, const Mesh& mesh, const std::vector<TensorUse>& uses,
                     bool replicate) {
  GridCounts counts(mesh);
  int64_t cells = 0;
  std::set<int> kinds;  // of uses
  for (const TensorUse& use : uses) {
    if (!kinds.insert(use.kind).second) continue;
    ChoiceSpace tensor = SpaceOfTensor(graph, use.tensor);
    tensor.optional |= replicate;
    const auto node = static_cast<NodeId>(use.node - graph.tensors.size());
    cells += counts.CellsOf(*use.costs, tensor, SpaceOfNode(graph, node));
    if (cells > kMostCells) return true;
  }
  return false;
}

}  // namespace yuba::search
