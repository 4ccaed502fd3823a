// The greatest overlap of each pair of a tensor's grid and a node's grid: the most elements, summed
// over devices, that shards and the node's boxes can have in common.
//
// Each overlap is a product over the factors of a definition's boxes (part_boxes.h), bounded as
// overlap_bound.h says. Equal factors are bounded once and equal products multiplied once, so that
// tables of millions of cells take about one look-up a cell.
#ifndef YUBA_SEARCH_COST_GRID_OVERLAPS_H_
#define YUBA_SEARCH_COST_GRID_OVERLAPS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "search/cost/part_boxes.h"
#include "search/solve/budget.h"
#include "search/space/grid_space.h"

namespace yuba::search {

// Calls `row` once for each tensor grid, in order, with the overlaps in elements by node grid;
// stops early where the budget is spent. `dims`: the extents of the tensor. `regions`: of the use.
void ForEachRowOfOverlaps(
    int64_t devices, const std::vector<int64_t>& dims, const std::vector<Grid>& tensor_grids,
    const std::vector<Grid>& node_grids, Regions* regions, const Budget& budget,
    absl::FunctionRef<void(size_t tensor_grid, const std::vector<int64_t>& overlaps)> row);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_GRID_OVERLAPS_H_
