#include <algorithm>
#include <set>

#include "tests/support/marking.h"

namespace yuba {
namespace {

void TryAxes(const Mesh& mesh, const std::vector<int64_t>& extents, size_t axis, Sharding* sharding,
             std::vector<Sharding>* found) {
  if (axis == mesh.axes.size()) {
    found->push_back(*sharding);
    return;
  }
  TryAxes(mesh, extents, axis + 1, sharding, found);
  for (AxisList& list : sharding->axes) {
    for (size_t at = 0; at <= list.size(); ++at) {
      list.insert(list.begin() + at, static_cast<uint8_t>(axis));
      TryAxes(mesh, extents, axis + 1, sharding, found);
      list.erase(list.begin() + at);
    }
  }
}

bool Possible(const Mesh& mesh, const std::vector<int64_t>& extents, const Sharding& sharding) {
  for (size_t e = 0; e < extents.size(); ++e) {
    if (!sharding.axes[e].empty() && PartCount(mesh, sharding.axes[e]) > extents[e]) return false;
  }
  return true;
}

bool CouldGoFurther(const Mesh& mesh, const std::vector<int64_t>& extents,
                    const Sharding& sharding) {
  std::set<int> used;
  for (const AxisList& list : sharding.axes) used.insert(list.begin(), list.end());
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (used.count(static_cast<int>(axis)) > 0) continue;
    for (size_t e = 0; e < extents.size(); ++e) {
      Sharding further = sharding;
      further.axes[e].push_back(static_cast<uint8_t>(axis));
      if (Possible(mesh, extents, further)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Sharding> TriedChoices(const Mesh& mesh, const std::vector<int64_t>& extents,
                                   bool maximal) {
  Sharding sharding;
  sharding.axes.resize(extents.size());
  std::vector<Sharding> all, legal;
  TryAxes(mesh, extents, 0, &sharding, &all);
  for (const Sharding& candidate : all) {
    if (!Possible(mesh, extents, candidate)) continue;
    if (!maximal || !CouldGoFurther(mesh, extents, candidate)) legal.push_back(candidate);
  }
  return legal;
}

}  // namespace yuba
