#include "search/space/grid_space.h"

#include <algorithm>
#include <limits>
#include <map>

#include "opsemantics/base/check.h"

namespace yuba::search {
namespace {

class Listing {
 public:
  Listing(const ChoiceSpace& space, const Mesh& mesh)
      : space_(space),
        parts_(space.extents.size(), 1),
        grid_(mesh.kinds(), std::vector<int>(space.extents.size(), 1)) {
    for (const MeshAxis& axis : mesh.axes) ++left_[axis.axis_class()];
  }

  std::vector<Grid> Run() {
    keep_ = true;
    Extent(0);
    std::sort(grids_.begin(), grids_.end());
    return std::move(grids_);
  }

  int64_t Count(int64_t most) {
    most_ = most;
    Extent(0);
    return count_;
  }

 private:
  bool Fits(size_t e, int size) const {
    return space_.cuttable[e] && space_.extents[e] / parts_[e] >= size;
  }

  bool Maximal() const {
    for (const auto& [axes, count] : left_) {
      for (size_t e = 0; count > 0 && e < parts_.size(); ++e) {
        if (Fits(e, axes.size)) return false;
      }
    }
    return true;
  }

  // Gives extent `e`, and those after it, axes that are not placed yet, in every way.
  void Extent(size_t e) {
    if (count_ == most_) return;
    if (e == parts_.size()) {
      if (!space_.optional && !Maximal()) return;
      ++count_;
      if (keep_) grids_.push_back(grid_);
      return;
    }
    Place(e, left_.begin());
  }

  void Place(size_t e, std::map<AxisClass, int>::iterator axes) {
    if (axes == left_.end()) {
      Extent(e + 1);
      return;
    }
    Place(e, std::next(axes));
    const auto [size, kind] = axes->first;
    if (axes->second == 0 || !Fits(e, size)) return;
    --axes->second;
    parts_[e] *= size;
    grid_[kind][e] *= size;
    Place(e, axes);
    grid_[kind][e] /= size;
    parts_[e] /= size;
    ++axes->second;
  }

  const ChoiceSpace& space_;
  std::map<AxisClass, int> left_;  // how many axes of each class are not placed
  std::vector<int> parts_;         // [extent], by axes of all kinds
  Grid grid_;
  std::vector<Grid> grids_;
  bool keep_ = false;  // whether grids are listed, not counted alone
  int64_t count_ = 0, most_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

std::vector<Grid> AllGrids(const ChoiceSpace& space, const Mesh& mesh) {
  return Listing(space, mesh).Run();
}

int64_t CountGrids(const ChoiceSpace& space, const Mesh& mesh, int64_t most) {
  return Listing(space, mesh).Count(most);
}

bool MayKeepGroups(const Grid& partials, const Grid& reader) {
  for (size_t kind = 0; kind < reader.size(); ++kind) {
    const std::vector<int>& parts = reader[kind];
    if (Product(partials[kind]) * parts.back() != Product(parts)) return false;
  }
  return true;
}

int64_t CountChoicesOfGrid(const Grid& grid, const Mesh& mesh, bool level) {
  std::map<AxisClass, int> left;
  for (const MeshAxis& axis : mesh.axes) ++left[axis.axis_class()];
  int64_t choices = 1;
  for (size_t e = 0; e < grid[0].size(); ++e) {
    int axes = 0;  // of this extent
    for (auto& [same, count] : left) {
      int parts = grid[same.kind][e];
      for (int taken = 1; parts % same.size == 0; parts /= same.size, ++taken) {
        choices = choices * count-- / taken;
        ++axes;
      }
    }
    for (int factor = 2; factor <= axes && !level; ++factor) choices *= factor;
  }
  return choices;
}

int PositionOfGrid(const Grid& grid, const std::vector<Grid>& grids) {
  const auto place = std::lower_bound(grids.begin(), grids.end(), grid);
  YUBA_CHECK(place != grids.end() && *place == grid) << "a grid of no choice";
  return static_cast<int>(place - grids.begin());
}

}  // namespace yuba::search
