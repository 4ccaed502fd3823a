#include "search/engines/grid_search.h"

#include <limits>
#include <utility>

#include "search/axes/assign_axes.h"

namespace yuba::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

GridSolution SearchOnGrids(const Graph& graph, const SearchOptions& options, const Budget& budget,
                           const std::function<Choices()>& start) {
  std::vector<TensorUse> uses = TensorUsesOf(graph, options.mesh);
  GridSolution found;
  found.bound = DualBound(graph, options.mesh, uses, budget, kInfinity, options.table_cache.get());
  AxisOptions axis_options;
  axis_options.mesh = options.mesh;
  axis_options.nesting = options.nesting;
  const Budget overtime = budget.Overtime();
  axis_options.budget = budget.end() == Budget::End::kNone ? &budget : &overtime;
  axis_options.start = start;
  axis_options.bound = found.bound.bytes;
  found.choices = AssignAxes(graph, axis_options, uses, found.bound.grids);
  return found;
}

}  // namespace yuba::search
