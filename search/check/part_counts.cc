#include "search/check/part_counts.h"

#include <algorithm>
#include <utility>

namespace yuba::search {
namespace {

// Gives the axes of the mesh, one after the other, to extents that are not whole, or to none.
struct GridLister {
  const std::vector<int64_t>& extents;
  const std::vector<bool>& whole;
  const bool copy;                // axes may be left out that fit
  std::vector<AxisClass> axes;    // ascending
  std::vector<int> parts;         // by extent, so far
  Grid grid;                      // so far
  std::vector<AxisClass> unused;  // so far
  std::vector<Grid> found;

  bool Fits(size_t e, int size) const {
    return !whole[e] && int64_t{parts[e]} * size <= extents[e];
  }

  bool Full() const {
    for (const AxisClass& axis : unused) {
      for (size_t e = 0; e < extents.size(); ++e) {
        if (Fits(e, axis.size)) return false;
      }
    }
    return true;
  }

  // Axis number `next` and those after it. Of a class each goes to the extent of the one before it,
  // `last`, or to a later one, so that each grid is found once; to none comes last.
  void Give(size_t next, size_t last) {
    if (next == axes.size()) {
      if (copy || Full()) found.push_back(grid);
      return;
    }
    const auto [size, kind] = axes[next];
    const bool alike = next > 0 && axes[next] == axes[next - 1];
    for (size_t e = alike ? last : 0; e < extents.size(); ++e) {
      if (!Fits(e, size)) continue;
      parts[e] *= size;
      grid[kind][e] *= size;
      Give(next + 1, e);
      grid[kind][e] /= size;
      parts[e] /= size;
    }
    unused.push_back(axes[next]);
    Give(next + 1, extents.size());
    unused.pop_back();
  }
};

std::vector<Grid> EveryGrid(const Mesh& mesh, const std::vector<int64_t>& extents,
                            const std::vector<bool>& whole, bool copy, const Demands& demands) {
  const std::vector<int> uncut(extents.size(), 1);
  GridLister lister{extents, whole, copy, {}, uncut, Grid(mesh.kinds(), uncut), {}, {}};
  for (const MeshAxis& axis : mesh.axes) lister.axes.push_back(axis.axis_class());
  std::sort(lister.axes.begin(), lister.axes.end());
  lister.Give(0, 0);
  std::vector<Grid> grids;
  for (Grid& grid : lister.found) {
    if (MayMeet(mesh, grid, demands)) grids.push_back(std::move(grid));
  }
  std::sort(grids.begin(), grids.end());
  return grids;
}

}  // namespace

std::vector<Grid> EveryTensorGrid(const Mesh& mesh, const Tensor& tensor, bool replicate,
                                  const Demands& demands) {
  const std::vector<int64_t>& dims = tensor.type.dims;
  return EveryGrid(mesh, dims, std::vector<bool>(dims.size(), false),
                   replicate || IsTransient(tensor), demands);
}

std::vector<Grid> EveryNodeGrid(const Mesh& mesh, const Definition& definition, bool copy,
                                const Demands& demands) {
  std::vector<int64_t> extents;
  for (const Index& index : definition.indices) extents.push_back(index.extent);
  std::vector<bool> whole(extents.size(), true);
  for (int index : CuttableIndices(definition)) whole[index] = false;
  return EveryGrid(mesh, extents, whole, copy, demands);
}

Choice CutIntoParts(const Mesh& mesh, Grid grid) {
  Choice choice;
  choice.axes.resize(grid[0].size());
  std::vector<bool> used(mesh.axes.size(), false);
  for (size_t e = 0; e < choice.axes.size(); ++e) {
    for (size_t axis = 0; axis < used.size(); ++axis) {
      const auto [size, kind] = mesh.axes[axis].axis_class();
      if (used[axis] || grid[kind][e] % size != 0) continue;
      used[axis] = true;
      grid[kind][e] /= size;
      choice.axes[e].push_back(static_cast<uint8_t>(axis));
    }
  }
  return choice;
}

}  // namespace yuba::search
