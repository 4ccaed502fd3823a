// The greatest overlaps of all pairs of a tensor's and a node's grid, row by row: the products over
// factors of what overlap_bound.h says, where equal ones are multiplied once.
#ifndef YUBA_SEARCH_COST_GRID_OVERLAPS_H_
#define YUBA_SEARCH_COST_GRID_OVERLAPS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "search/cost/part_boxes.h"
#include "search/solve/budget.h"
#include "search/space/grid_space.h"

namespace yuba::search {

// Calls `row` for each tensor grid with the elements of overlap by node grid, until the budget is
// spent. `dims`: of the tensor.
void ForEachRowOfOverlaps(
    int64_t devices, const std::vector<int64_t>& dims, const std::vector<Grid>& tensor_grids,
    const std::vector<Grid>& node_grids, Regions* regions, const Budget& budget,
    absl::FunctionRef<void(size_t tensor_grid, const std::vector<int64_t>& overlaps)> row);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_GRID_OVERLAPS_H_
