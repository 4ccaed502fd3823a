#include "search/space/grid_space.h"

#include <algorithm>
#include <map>

#include "opsemantics/base/check.h"

namespace yuba::search {
namespace {

class Listing {
 public:
  Listing(const ChoiceSpace& space, const Mesh& mesh)
      : space_(space), grid_(space.extents.size(), 1) {
    for (const MeshAxis& axis : mesh.axes) ++left_[axis.size];
  }

  std::vector<Grid> Run() {
    Extent(0);
    std::sort(grids_.begin(), grids_.end());
    return std::move(grids_);
  }

 private:
  bool Fits(size_t e, int size) const {
    return space_.cuttable[e] && space_.extents[e] / grid_[e] >= size;
  }

  bool Maximal() const {
    for (const auto& [size, count] : left_) {
      for (size_t e = 0; count > 0 && e < grid_.size(); ++e) {
        if (Fits(e, size)) return false;
      }
    }
    return true;
  }

  // Gives extent `e`, and those after it, axes that are not placed yet, in every way.
  void Extent(size_t e) {
    if (e == grid_.size()) {
      if (space_.optional || Maximal()) grids_.push_back(grid_);
      return;
    }
    Place(e, left_.begin());
  }

  void Place(size_t e, std::map<int, int>::iterator size) {
    if (size == left_.end()) {
      Extent(e + 1);
      return;
    }
    Place(e, std::next(size));
    if (size->second == 0 || !Fits(e, size->first)) return;
    --size->second;
    grid_[e] *= size->first;
    Place(e, size);
    grid_[e] /= size->first;
    ++size->second;
  }

  const ChoiceSpace& space_;
  std::map<int, int> left_;  // axes that are not placed, by size
  Grid grid_;
  std::vector<Grid> grids_;
};

}  // namespace

std::vector<Grid> AllGrids(const ChoiceSpace& space, const Mesh& mesh) {
  return Listing(space, mesh).Run();
}

Grid GridOf(const Choice& choice, const Mesh& mesh) {
  Grid grid;
  for (const AxisList& axes : choice.axes) grid.push_back(PartCount(mesh, axes));
  return grid;
}

bool MayKeepGroups(const Grid& partials, const Grid& reader) {
  int64_t groups = reader.back(), all = 1;
  for (const int parts : partials) groups *= parts;
  for (const int parts : reader) all *= parts;
  return groups == all;
}

int64_t CountChoicesOfGrid(const Grid& grid, const Mesh& mesh, bool level) {
  std::map<int, int> left;  // axes by size
  for (const MeshAxis& axis : mesh.axes) ++left[axis.size];
  int64_t choices = 1;
  for (int parts : grid) {
    int axes = 0;  // of this extent
    for (auto& [size, count] : left) {
      for (int taken = 1; parts % size == 0; parts /= size, ++taken) {
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
