// The half of UseCosts that knows the objective: bytes as they are, or times.
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/cost/crossings.h"
#include "search/cost/numbering.h"
#include "search/cost/use_costs.h"
#include "search/plan/memory_price.h"
#include "search/plan/use_boxes.h"

namespace yuba::search {

std::vector<int64_t> UseCosts::Relaxed(const std::vector<Grid>& tensor_grids,
                                       const std::vector<Grid>& node_grids, const Budget& budget) {
  // Of a gather, node grids that cut all that the operand depends on alike cost the same.
  std::vector<bool> matters(definition_.indices.size(), operand_ < 0 || OfPartials());
  for (const BoxFactor& factor : whole_.factors()) {
    for (const int index : factor.indices) matters[index] = true;
  }
  std::vector<int> indices;
  for (size_t i = 0; i < matters.size(); ++i) {
    if (matters[i]) indices.push_back(static_cast<int>(i));
  }
  Numbering<Grid> different;
  std::vector<int> number;  // [node grid]
  std::vector<Grid> first;  // of each number
  for (const Grid& grid : node_grids) {
    number.push_back(different.Of(GridAlong(grid, indices)));
    if (number.back() == static_cast<int>(first.size())) first.push_back(grid);
  }
  std::vector<int64_t> cells = RelaxedBytes(tensor_grids, first, budget);
  for (const bool partial : {false, true}) {
    if (objective_.IsTime()) MakeTimes(tensor_grids, first, partial, cells);
  }
  if (first.size() == node_grids.size()) return cells;
  std::vector<int64_t> all;
  all.reserve(tensor_grids.size() * node_grids.size());
  for (size_t r = 0; r < tensor_grids.size(); ++r) {
    const int64_t* const row = cells.data() + r * first.size();
    for (const int n : number) all.push_back(row[n]);
  }
  return all;
}

// Makes times of bytes, of node grids that all cut the reduction, or all do not (`partial`).
void UseCosts::MakeTimes(const std::vector<Grid>& tensor_grids, const std::vector<Grid>& node_grids,
                         bool partial, std::vector<int64_t>& cells) {
  std::vector<size_t> columns;  // of `cells`
  std::vector<NodeSide> sides;
  std::vector<Grid> grids;
  for (size_t c = 0; c < node_grids.size(); ++c) {
    NodeSide side = SideOf(node_grids[c]);
    if (side.partial != partial) continue;
    columns.push_back(c);
    sides.push_back(std::move(side));
    grids.push_back(node_grids[c]);
  }
  absl::optional<Crossings> crossings;
  if (!OfPartials() && !grids.empty()) {
    crossings.emplace(definition_, operand_, mesh_, tensor_grids, grids, partial,
                      RegionsOf(partial));
  }
  for (size_t r = 0; r < tensor_grids.size(); ++r) {
    const int64_t copies = devices_ / Product(PartsOf(tensor_grids[r]));
    for (size_t c = 0; c < grids.size(); ++c) {
      int64_t& cell = cells[r * node_grids.size() + columns[c]];
      if (cell == 0 || cell == kNever) continue;
      LeastMoved least;
      least.bytes[0] = cell / times_;
      least.messages[0] = devices_;
      if (crossings.has_value()) {
        const NodeSide& side = sides[c];
        const int64_t arriving = operand_ < 0 ? side.written * copies : side.needed;
        crossings->Add(r, c, arriving, side.size / times_, &least);
      }
      cell = objective_.LeastExchange(least, devices_) * times_;
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
