// The relaxation to grids with its rows of memory, and assignments of grids that keep to the rows.
//
// All choices of a grid use equally many bytes on the fullest device, so the rows are exact on
// grids. The bytes moved are a lower bound there, as always on grids.
#ifndef YUBA_SEARCH_ENGINES_GRID_ROWS_H_
#define YUBA_SEARCH_ENGINES_GRID_ROWS_H_

#include <vector>

#include "absl/types/optional.h"
#include "search/engines/task.h"
#include "search/model/grid_bound.h"
#include "search/model/grid_problem.h"
#include "search/model/memory_rows.h"
#include "search/plan/choice.h"

namespace yuba::search {

// The grid problem of the task's graph, with rows for its limit on memory; without a limit the rows
// are there and nothing can exceed them. Where the budget is spent, incomplete or nothing, as
// BuildGridProblem.
absl::optional<GridProblem> GridsWithRows(Task& task, const Budget& budget);

// By element: the position of its choice's grid.
Assignment GridsOf(const GridProblem& grids, const Choices& choices, const Mesh& mesh);

// The cheapest assignment of grids found that keeps to the rows, searched from each of the starts
// at the bound's prices; nothing where none was found. Of large tables the bound's likely grids and
// those of the starts alone are looked at. The search ends where the bound is reached.
absl::optional<Assignment> GridsInRows(const GridProblem& grids, const LowerBound& bound,
                                       const std::vector<Assignment>& starts, const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_GRID_ROWS_H_
