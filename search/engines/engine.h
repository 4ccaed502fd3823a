// The engines: the parts of a search, each of which finds plans or bounds in its own way. The table
// in engine_table.cc lists them in the order in which they run, those where memory is free and
// those within a limit or with replicas.
//
// An engine takes what it needs of the task and the incumbent, offers what it finds to the
// incumbent, and returns soon after the task's budget is spent. To add one: a function in a file of
// its own, declared here; a row of the table; a test that it finds what it is for
// (tests/search/engines/). `--without NAME` leaves an engine out, `--verbose` prints what each one
// added.
#ifndef YUBA_SEARCH_ENGINES_ENGINE_H_
#define YUBA_SEARCH_ENGINES_ENGINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/axes/assign_axes.h"
#include "search/engines/incumbent.h"
#include "search/engines/task.h"

namespace yuba::search {

// A row of the table.
struct Engine {
  // kFree: where memory has no limit and nothing is replicated; kLimited: else.
  enum class Memory : uint8_t { kFree, kLimited };

  const char* name;
  Memory memory;  // of the tasks that it is for
  // Whether it can do something for this task now. Asked only where there is no plan yet, or one
  // with a gap.
  bool (*applies)(Task& task, const Incumbent& incumbent);
  void (*run)(Task& task, Incumbent& incumbent);
};

// Runs the engines for the task that apply, until the gap is closed or the budget is spent.
// There is always a plan, but where memory is limited: then there may be an error of
// nothing_fits.h, or NotFound where nothing costs less than options.known_value.
absl::StatusOr<Plan> RunEngines(Task& task);

// What runs behind all engines and has its name among theirs, so that it can be left out:
// TakeShortestStep of search/portfolio/shortest_step.h.
inline constexpr char kScheduled[] = "scheduled";

// The options of a search within a search: `report` is called with "name/engine".
SearchOptions NamedWithin(const std::string& name, SearchOptions options);

// eliminate_all.cc: the cheapest plan exactly, by eliminating tables of all choices.
void EliminateAll(Task& task, Incumbent& incumbent);

// repeat.cc: repeated blocks choose alike (search/model/ties.h), on tables of all choices or, after
// "axes", on grids.
void SolveRepeated(Task& task, Incumbent& incumbent);
void RepeatAxes(Task& task, Incumbent& incumbent);

// levels.cc: one mesh axis at a time (search/model/recursion.h), without replicas.
void SearchLevels(Task& task, Incumbent& incumbent);

// grids.cc: the dual bound of the relaxation to grids; leaves task.likely_grids.
void BoundGrids(Task& task, Incumbent& incumbent);

// What a search of axes is to keep to (search/axes/assign_axes.h).
AxisOptions AxisOptionsOf(Task& task, const Incumbent& incumbent);
// place_axes.cc: mesh axes for the likely grids.
void PlaceAxes(Task& task, Incumbent& incumbent);

// likely.cc: after "axes": exactly, the choices of the likely grids and of the plan's.
void SolveLikely(Task& task, Incumbent& incumbent);

// uncopied.cc: the search of the graph without copies, as a start; then mesh axes from all starts.
void SearchUncopied(Task& task, Incumbent& incumbent);
void AxesFromUncopied(Task& task, Incumbent& incumbent);

// local.cc: local search on tables of all choices, from all starts; then from the choices that the
// anchored dual prefers (search/solve/anchored_dual.h).
void SearchAround(Task& task, Incumbent& incumbent);
void FollowAnchoredDual(Task& task, Incumbent& incumbent);

// Within a limit on memory, or with replicas.

// plain.cc: the plan without a limit and replicas, as a start; where it fits, and there are no
// replicas, it is the answer.
void SearchPlain(Task& task, Incumbent& incumbent);

// baselines.cc: the plans of baselines without replicas, and of those with replicas.
void OfferBaselines(Task& task, Incumbent& incumbent);
void OfferReplicating(Task& task, Incumbent& incumbent);

// choices_within.cc: tables of all choices at prices on memory, with a bound where they can be
// eliminated (leaves task.choices_within, which the others need); local search at these prices; the
// smallest program, for an error.
void PriceChoices(Task& task, Incumbent& incumbent);
void SearchWithinRows(Task& task, Incumbent& incumbent);
void SeekSmallest(Task& task, Incumbent& incumbent);

// grids_within.cc: whether what every plan has in use fits; the dual bound of grids at prices on
// memory (leaves task.grids_within, which the next need); mesh axes that keep to the limit; grids
// that keep to the rows of memory.
void CheckLeastWithin(Task& task, Incumbent& incumbent);
void BoundGridsWithin(Task& task, Incumbent& incumbent);
void PlaceAxesWithin(Task& task, Incumbent& incumbent);
void SearchRows(Task& task, Incumbent& incumbent);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_ENGINE_H_
