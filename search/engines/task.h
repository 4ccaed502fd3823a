// One search of one graph, as its engines see it: what is searched, and what an engine leaves for
// later ones besides plans and bounds.
#ifndef YUBA_SEARCH_ENGINES_TASK_H_
#define YUBA_SEARCH_ENGINES_TASK_H_

#include <memory>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/model/graph_problem.h"
#include "search/model/grid_problem.h"
#include "search/plan/choice.h"
#include "search/plan/plan.h"
#include "search/search_options.h"
#include "search/solve/budget.h"
#include "search/solve/eliminate.h"
#include "search/space/restriction.h"

namespace yuba::search {

class ChoicesWithin;
class GridsWithin;

class Task {
 public:
  // `graph` has its copies, accumulators and partials. All arguments must outlive this.
  Task(const Graph& graph, const SearchOptions& options, const Restrictions& restrictions,
       const Budget& budget);
  ~Task();

  const Graph& graph() const { return graph_; }
  const SearchOptions& options() const { return options_; }
  const Restrictions& restrictions() const { return restrictions_; }
  const Budget& budget() const { return budget_; }
  bool pinned() const { return !restrictions_.empty(); }
  // Whether memory is limited or tensors may be replicated.
  bool limited() const;
  int64_t limit() const;  // bytes a device; kNoLimit (incumbent.h) where there is none
  bool replicated() const { return options_.replicate == Replicate::kAuto; }
  // The budget; once it is spent, a little more time, the same for all who ask.
  const Budget& time_left();
  // Where the budget is spent: from now on time_left() is that of a new little while, and what it
  // was before must no longer be used.
  void ExtendTime() { overtime_.reset(); }

  // Whether engines work on tables of all choices, all mesh axes at once: where those are of a size
  // to be made. Else they work on grids.
  bool on_tables();

  // All choices of all axes, with their tables; made at the first call. Not complete where the
  // budget was spent. Ask only on tables.
  const Problem& problem();
  // The order in which its variables can be eliminated exactly; nothing where the tables of that
  // would be too large.
  const absl::optional<Order>& order();

  const std::vector<TensorUse>& uses();

  // The graph without sums that stay unreduced (search/rewrite/partials.h), for engines that know
  // none; `graph()` where it has none. Choices of it, by element, as choices of `graph()`.
  const Graph& whole();
  Choices FromWhole(Choices choices) const;

  // Left by engine "grids": [element], likely grids, the best first; empty before.
  std::vector<std::vector<Grid>> likely_grids;
  // The same, more of them, by their numbers in the lists of a GridProblem; may be empty.
  std::vector<std::vector<int>> likely_values;
  // Left by engine "grids": whether the likely grids of a few repeated blocks stand for all.
  bool tiled = false;
  // Left by engine "repeat": whether a few blocks, which it has solved, stand for the whole graph.
  bool repeats = false;
  // Of a search with rows of memory. Left by engine "prices": tables of all choices with their
  // rows. Left by engine "grids": grids with theirs. Null before.
  std::unique_ptr<ChoicesWithin> choices_within;
  std::unique_ptr<GridsWithin> grids_within;
  // Left by engine "plain": whether the plan without limit and replicas fits.
  bool plain_fits = false;
  // Left by engines "least" and "grids": what every plan has in use is above the limit.
  bool nothing_fits = false;
  // Whether a search within this one ended at its share of the time, so that more time may find
  // better.
  bool cut_short = false;
  // Whether an error is to say how much memory would be enough.
  bool explain = true;

 private:
  const Graph& graph_;
  const SearchOptions& options_;
  const Restrictions& restrictions_;
  const Budget& budget_;
  std::unique_ptr<Budget> overtime_;
  absl::optional<bool> on_tables_;
  absl::optional<Problem> problem_;
  absl::optional<absl::optional<Order>> order_;
  absl::optional<std::vector<TensorUse>> uses_;
  absl::optional<Graph> whole_;
};

// An elimination of at most so many sums, about two seconds, is worth its time as a start.
constexpr int64_t kSoonSums = int64_t{1} << 31;

// What BuildProblem is to make of these options, with no axes to place yet. The budget must outlive
// the result.
ProblemOptions OptionsOf(const SearchOptions& options, const Restrictions& restrictions,
                         const Budget& budget);
// The same, with all axes of the mesh to place at once.
ProblemOptions AllAxesOf(const SearchOptions& options, const Restrictions& restrictions,
                         const Budget& budget);

// The same search without a limit on memory and without replicas.
SearchOptions Unlimited(SearchOptions options);

// Whether the cost tables of all axes at once have at most 2^22 cells, or with replicas 2^23.
bool FitsInTables(const Graph& graph, const Mesh& mesh, bool replicate = false);
// Whether they have at most 2^26 cells and are eliminated in at most kSoonSums.
bool IsSoonEliminated(const Graph& graph, const SearchOptions& options,
                      const Restrictions& restrictions, const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_TASK_H_
