#include "search/axes/assign_axes.h"

#include <limits>
#include <utility>

#include "search/axes/axis_pool.h"

namespace yuba::search {
namespace {

constexpr Effort kTied = {6, 4, 20'000};
constexpr Effort kUntied = {2, 2, 50'000};
constexpr int kIdle = 2;                       // rounds without a gain
constexpr int64_t kMostSteps = 2'000'000'000;  // products summed for new costs: then no new round

// A cost that is not worth improving.
int64_t Enough(const AxisOptions& options) { return options.bound + options.bound / 100'000; }

// Refines the options' start where it costs less than what `search` has.
void BeginAgain(const AxisProblem& problem, const AxisOptions& options, ChoiceStore* store,
                AxisSearch* search) {
  const Choices start = options.start();
  const std::vector<int> found = search->choices();
  const int64_t least = search->Cost();
  for (size_t v = 0; v < problem.elements.size(); ++v) {
    search->Set(static_cast<int>(v), store->Number(start[problem.elements[v]]));
  }
  if (search->Cost() < least) {
    Refine(problem, kUntied, options, {search->choices()}, search);
  } else {
    search->SetAll(found);
  }
}

}  // namespace

void Refine(const AxisProblem& problem, const Effort& effort, const AxisOptions& options,
            std::vector<std::vector<int>> starts, AxisSearch* search) {
  std::vector<int> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (std::vector<int>& start : starts) {
    search->SetAll(start);
    search->Descend();
    start = search->choices();
    if (search->Cost() >= least) continue;
    least = search->Cost();
    best = start;
  }
  const int64_t enough = Enough(options);
  search->SetAll(best);
  int idle = 0;
  for (int round = 0; round < effort.rounds && idle < kIdle && least > enough; ++round) {
    if (search->store().steps() > kMostSteps || options.budget->ShouldStop()) break;
    const int64_t before = least;
    std::vector<std::vector<int>> found;
    for (int run = 0; run < effort.runs; ++run) {
      search->SetAll(run % 2 == 0 ? starts[run / 2 % starts.size()] : best);
      search->Kick(effort.work);
      found.push_back(search->choices());
      if (search->Cost() >= least) continue;
      least = search->Cost();
      best = search->choices();
    }
    search->SetAll(best);
    if (least <= enough) break;
    while (ChooseAmong(problem, found, options.table_cells, *options.budget, search)) {
      search->Descend();
    }
    best = search->choices();
    least = search->Cost();
    idle = least < before ? 0 : idle + 1;
  }
}

Choices AssignAxes(const Graph& graph, const AxisOptions& options,
                   const std::vector<TensorUse>& uses,
                   const std::vector<std::vector<Grid>>& grids) {
  ChoiceStore store(options.mesh);
  AxisProblem problem = MakeAxisProblem(graph, uses, grids, &store);
  AxisProblem tied = Tied(problem);
  AxisSearch alike(tied, options.mesh, options.nesting, *options.budget, &store);
  // The likeliest grids fit together, but perhaps no axes of theirs do. Where each choice may leave
  // its grid for its neighbours' sake, axes agree better. Both are starts.
  std::vector<std::vector<int>> starts;
  for (const bool likeliest_grids : {true, false}) {
    alike.SetAll(std::vector<int>(tied.variables.size(), -1));
    alike.Start(likeliest_grids);
    starts.push_back(alike.choices());
  }
  Refine(tied, kTied, options, std::move(starts), &alike);
  AxisSearch search(problem, options.mesh, options.nesting, *options.budget, &store);
  for (size_t e = 0; e < problem.variable.size(); ++e) {
    search.Set(problem.variable[e], alike.choices()[tied.variable[e]]);
  }
  Refine(problem, kUntied, options, {search.choices()}, &search);
  const bool best = search.Cost() <= Enough(options);
  if (options.start && !best && !options.budget->ShouldStop()) {
    BeginAgain(problem, options, &store, &search);
  }
  return ChoicesOfElements(problem, search.choices(), &store);
}

}  // namespace yuba::search
