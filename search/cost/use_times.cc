// The half of UseCosts that knows the objective: bytes as they are, or times.
#include <algorithm>

#include "search/cost/use_costs.h"
#include "search/plan/memory_price.h"
#include "search/plan/moved_by_use.h"

namespace yuba::search {

std::vector<int64_t> UseCosts::Relaxed(const std::vector<Grid>& tensor_grids,
                                       const std::vector<Grid>& node_grids, const Budget& budget) {
  std::vector<int64_t> cells = RelaxedBytes(tensor_grids, node_grids, budget);
  if (objective_.IsTime()) MakeTimes(tensor_grids, node_grids, cells);
  return cells;
}

// Makes times of bytes.
void UseCosts::MakeTimes(const std::vector<Grid>& tensor_grids, const std::vector<Grid>& node_grids,
                         std::vector<int64_t>& cells) {
  std::vector<NodeSide> sides;
  for (const Grid& grid : node_grids) sides.push_back(SideOf(grid));
  size_t cell = 0;
  for (const Grid& tensor : tensor_grids) {
    const int64_t copies = devices_ / Product(PartsOf(tensor));
    for (size_t c = 0; c < node_grids.size(); ++c, ++cell) {
      if (cells[cell] == 0 || cells[cell] == kNever) continue;
      LeastMoved least;
      least.bytes[0] = cells[cell] / times_;
      least.messages[0] = 1;
      if (!OfPartials()) {
        const NodeSide& side = sides[c];
        int64_t arriving = side.needed;
        if (operand_ < 0)
          arriving = side.partial ? (copies == 1 ? side.written : 0) : side.written * copies;
        crossings_.Add(tensor, node_grids[c], RegionsOf(side.partial), side.partial, arriving,
                       side.size / times_, &least);
      }
      cells[cell] = objective_.LeastExchange(least, devices_) * times_;
    }
  }
}

// Of tensors that hold partials, by a look at all devices.
int64_t UseCosts::TimeFromBoxes(const Choice& tensor, const Choice& node) const {
  return objective_.Exchange(
      MovedByUse(definition_, operand_, mesh_, tensor, AnalyzeNode(definition_, node, mesh_)));
}

int64_t UseCosts::Exact(const Choice& tensor, const Choice& node, int64_t* steps) {
  if (!objective_.IsTime()) return ExactBytes(tensor, node, steps);
  if (!OfPartials()) {
    *steps += devices_;
    return busiest_.Exchange(tensor, node) * times_;
  }
  if (ExactBytes(tensor, node, steps) == 0) return 0;
  *steps += devices_;
  return TimeFromBoxes(tensor, node) * times_;
}

}  // namespace yuba::search
