#include "search/space/follow.h"

#include <algorithm>

namespace yuba::search {

Choice ChoiceOfGrid(const Grid& grid, const std::vector<const WantedAxes*>& wanted,
                    const Mesh& mesh, bool backwards) {
  Choice choice;
  choice.axes.resize(grid[0].size());
  std::vector<bool> used(mesh.axes.size(), false);
  Grid left = grid;  // the parts that axes have yet to make
  auto take = [&](size_t e, uint8_t axis) {
    const auto [size, kind] = mesh.axes[axis].axis_class();
    if (used[axis] || left[kind][e] % size != 0) return;
    used[axis] = true;
    left[kind][e] /= size;
    choice.axes[e].push_back(axis);
  };
  for (const WantedAxes* neighbour : wanted) {
    for (size_t e = 0; e < choice.axes.size(); ++e) {
      for (uint8_t axis : (*neighbour)[e]) take(e, axis);
    }
  }
  for (size_t e = 0; e < choice.axes.size(); ++e) {
    const auto none_left = [e](const std::vector<int>& parts) { return parts[e] == 1; };
    if (std::all_of(left.begin(), left.end(), none_left)) continue;
    for (size_t a = 0; a < mesh.axes.size(); ++a) {
      take(e, static_cast<uint8_t>(backwards ? mesh.axes.size() - 1 - a : a));
    }
  }
  return choice;
}

Choice FollowNeighbours(const ChoiceSpace& space, const std::vector<const WantedAxes*>& wanted,
                        const Mesh& mesh) {
  Choice choice = WholeChoice(space);
  std::vector<bool> used(mesh.axes.size(), false);
  std::vector<int64_t> room = space.extents;
  for (size_t e = 0; e < room.size(); ++e) {
    if (!space.cuttable[e]) room[e] = 1;
  }
  auto take = [&](size_t e, uint8_t axis) {
    if (used[axis] || room[e] < mesh.axes[axis].size) return;
    choice.axes[e].push_back(axis);
    if (PartCount(mesh, choice.axes[e]) > space.extents[e]) {
      choice.axes[e].pop_back();
      return;
    }
    used[axis] = true;
    room[e] = space.extents[e] / PartCount(mesh, choice.axes[e]);
  };
  for (const WantedAxes* neighbour : wanted) {
    for (size_t e = 0; e < room.size(); ++e) {
      for (uint8_t axis : (*neighbour)[e]) take(e, axis);
    }
  }
  for (uint8_t axis = 0; axis < mesh.axes.size() && !room.empty() && !space.optional; ++axis) {
    if (used[axis]) continue;
    take(std::max_element(room.begin(), room.end()) - room.begin(), axis);
  }
  return choice;
}

}  // namespace yuba::search
