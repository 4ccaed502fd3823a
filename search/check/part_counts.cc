#include "search/check/part_counts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace yuba::search {
namespace {

// All ways to give the axes of the mesh to extents that are not whole, as far as the demands allow.
// Without `copy`, no axis is left out that fits.
std::vector<Parts> EveryGrid(const Mesh& mesh, const std::vector<int64_t>& extents,
                             const std::vector<bool>& whole, bool copy, const Demands& demands) {
  std::map<int, int> axes;
  for (const MeshAxis& axis : mesh.axes) ++axes[axis.size];
  // One extent after the other; with each list of parts goes what is left of the axes.
  std::vector<std::pair<Parts, std::map<int, int>>> partial = {{{}, axes}}, next;
  for (size_t e = 0; e < extents.size(); ++e) {
    next.clear();
    for (const auto& [parts, left] : partial) {
      std::vector<std::pair<int64_t, std::map<int, int>>> here = {{1, left}};
      for (const auto& size_count : axes) {
        const int size = size_count.first;
        for (size_t i = 0, end = here.size(); i < end; ++i) {
          auto more = here[i];
          while (!whole[e] && more.second[size] > 0 && more.first * size <= extents[e]) {
            more.first *= size;
            --more.second[size];
            here.push_back(more);
          }
        }
      }
      for (auto& [count, rest] : here) {
        next.push_back({parts, std::move(rest)});
        next.back().first.push_back(static_cast<int>(count));
      }
    }
    partial.swap(next);
  }
  std::vector<Parts> grids;
  for (const auto& [parts, left] : partial) {
    bool full = true;
    for (size_t e = 0; e < extents.size() && !copy; ++e) {
      for (const auto& [size, count] : left) {
        if (count > 0 && !whole[e] && int64_t{parts[e]} * size <= extents[e]) full = false;
      }
    }
    if (full && MayMeet(mesh, parts, demands)) grids.push_back(parts);
  }
  std::sort(grids.begin(), grids.end());
  return grids;
}

}  // namespace

std::vector<Parts> EveryTensorGrid(const Mesh& mesh, const Tensor& tensor, bool replicate,
                                   const Demands& demands) {
  const std::vector<int64_t>& dims = tensor.type.dims;
  return EveryGrid(mesh, dims, std::vector<bool>(dims.size(), false),
                   replicate || IsTransient(tensor), demands);
}

std::vector<Parts> EveryNodeGrid(const Mesh& mesh, const Definition& definition, bool copy,
                                 const Demands& demands) {
  std::vector<int64_t> extents;
  for (const Index& index : definition.indices) extents.push_back(index.extent);
  std::vector<bool> whole(extents.size(), true);
  for (int index : CuttableIndices(definition)) whole[index] = false;
  return EveryGrid(mesh, extents, whole, copy, demands);
}

Choice CutIntoParts(const Mesh& mesh, const Parts& parts) {
  Choice choice;
  choice.axes.resize(parts.size());
  std::vector<bool> used(mesh.axes.size(), false);
  for (size_t e = 0; e < parts.size(); ++e) {
    int left = parts[e];
    for (size_t axis = 0; axis < used.size() && left > 1; ++axis) {
      if (used[axis] || left % mesh.axes[axis].size != 0) continue;
      used[axis] = true;
      left /= mesh.axes[axis].size;
      choice.axes[e].push_back(static_cast<uint8_t>(axis));
    }
  }
  return choice;
}

}  // namespace yuba::search
