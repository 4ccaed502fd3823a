#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/clock.h"
#include "search/engines/engine.h"
#include "search/search.h"

namespace yuba::search {
namespace {

// An elimination of more sums takes seconds and has nothing before its end: grids come first, for
// the case that time runs out.
constexpr int64_t kLongElimination = int64_t{1} << 31;
// On grids a gap of 1/100,000 of the bound is not worth another start.
constexpr int64_t kReached = 100'000;

bool OnGrids(Task& task) { return !task.limited() && !task.on_tables(); }
// On tables that were not eliminated: then there would be no gap.
bool OnWideTables(Task& task) {
  return !task.limited() && task.on_tables() && task.problem().complete;
}
bool IsReached(const Incumbent& incumbent) {
  const int64_t bound = incumbent.bound().bytes();
  return incumbent.bytes() <= bound + bound / kReached;
}

bool IsLimited(Task& task, const Incumbent&) { return task.limited(); }
// No limit makes plans cheaper, replicas do.
bool LimitMatters(Task& task, const Incumbent& incumbent) {
  return task.limited() && (!incumbent.HasPlan() || task.options().replicate == Replicate::kAuto);
}
bool CanBeEliminated(Task& task, const Incumbent&) {
  return !task.limited() && task.on_tables() && task.order().has_value();
}
bool SoonEliminated(Task& task, const Incumbent& incumbent) {
  return CanBeEliminated(task, incumbent) &&
         (task.order()->sums <= kLongElimination || task.pinned());
}
bool GridsHelp(Task& task, const Incumbent&) { return !task.limited(); }
bool HasLikelyGrids(Task& task, const Incumbent&) { return !task.likely_grids.empty(); }
bool AnotherStart(Task& task, const Incumbent& incumbent) {
  if (task.limited()) return false;
  return !OnGrids(task) || !IsReached(incumbent);
}
bool AnotherGraph(Task& task, const Incumbent& incumbent) {
  if (task.graph().copies == 0 || task.pinned()) return false;
  return OnGrids(task) ? !IsReached(incumbent) : OnWideTables(task) && !incumbent.IsNear();
}
bool AxesCanImprove(Task& task, const Incumbent& incumbent) {
  return OnGrids(task) && task.axes != nullptr && !IsReached(incumbent);
}
bool OnTablesWithGap(Task& task, const Incumbent&) { return OnWideTables(task); }
bool TablesCanBePruned(Task& task, const Incumbent& incumbent) {
  return OnWideTables(task) && incumbent.HasPlan();
}
bool GridsCanBePruned(Task& task, const Incumbent& incumbent) {
  return OnGrids(task) && !task.pinned() && incumbent.HasPlan() && !incumbent.IsNear();
}

// Read from top to bottom. An engine that is listed twice runs where it first applies.
constexpr Engine kEngines[] = {
    {"plain", "the plan without limit and replicas", IsLimited, SearchPlain},
    {"limit", "within the limit, or with replicas", LimitMatters, SearchLimit},
    {"eliminate", "exactly, on tables of all choices", SoonEliminated, EliminateAll},
    {"grids", "the dual bound of grids", GridsHelp, BoundGrids},
    {"axes", "mesh axes for likely grids", HasLikelyGrids, PlaceAxes},
    {"eliminate", "exactly, on tables of all choices", CanBeEliminated, EliminateAll},
    {"levels", "a few mesh axes at a time", AnotherStart, SearchLevels},
    {"uncopied", "the plan without copies", AnotherGraph, SearchUncopied},
    {"improve", "mesh axes, from the best plan", AxesCanImprove, ImproveAxes},
    {"local", "local search, from all plans", OnTablesWithGap, SearchAround},
    {"prune", "exactly, what can still be cheaper", TablesCanBePruned, PruneChoices},
    {"prune", "exactly, what can still be cheaper", GridsCanBePruned, PruneGrids},
    {"anchored", "local search, from the anchored dual", OnTablesWithGap, FollowAnchoredDual},
};

// Runs the engine, and reports what it added.
void RunOne(const Engine& engine, Task& task, Incumbent& incumbent) {
  EngineReport report;
  report.engine = engine.name;
  report.bytes_before = incumbent.bytes();
  report.bound_before = incumbent.bound().bytes();
  const Clock::time_point start = Clock::now();
  engine.run(task, incumbent);
  report.seconds = SecondsSince(start);
  report.bytes = incumbent.bytes();
  report.bound = incumbent.bound().bytes();
  if (task.options().report) task.options().report(report);
}

// For a budget that is spent, in overtime: a plan where there is none yet, and a bound. Within a
// limit the engine for it brings what is known within the limit, if it has not run.
void RunLate(Task& task, bool limit_may_run, Incumbent& incumbent) {
  if (task.limited()) {
    if (limit_may_run && LimitMatters(task, incumbent)) SearchLimit(task, incumbent);
    return;
  }
  // On grids a plan is near as soon as there are likely grids; one axis at a time takes longer.
  const bool axes_first = !task.on_tables() && task.axes == nullptr;
  if (!incumbent.HasPlan() && !axes_first) SearchLevels(task, incumbent);
  if (!incumbent.HasGap()) return;
  if (task.likely_grids.empty()) BoundGrids(task, incumbent);
  if (axes_first) PlaceAxes(task, incumbent);
  if (!incumbent.HasPlan()) SearchLevels(task, incumbent);
}

}  // namespace

std::vector<std::string> EngineNames() {
  std::vector<std::string> names;
  for (const Engine& engine : kEngines) {
    if (std::count(names.begin(), names.end(), engine.name) == 0) names.push_back(engine.name);
  }
  return names;
}

SearchOptions NamedWithin(const std::string& name, SearchOptions options) {
  if (!options.report) return options;
  options.report = [name, outer = std::move(options.report)](EngineReport report) {
    report.engine = absl::StrCat(name, "/", report.engine);
    outer(report);
  };
  return options;
}

absl::StatusOr<Plan> RunEngines(Task& task) {
  Incumbent incumbent(task.graph(), task.options(), task.restrictions());
  std::vector<std::string> done = task.options().without;
  const auto is_done = [&](const char* name) {
    return std::count(done.begin(), done.end(), name) > 0;
  };
  for (const Engine& engine : kEngines) {
    if (incumbent.HasPlan() && !incumbent.HasGap()) break;
    if (is_done(engine.name) || !engine.applies(task, incumbent)) continue;
    if (task.budget().ShouldStop()) break;
    done.push_back(engine.name);
    RunOne(engine, task, incumbent);
  }
  const bool spent = task.budget().end() != Budget::End::kNone;
  if (spent || !incumbent.HasPlan()) RunLate(task, !is_done("limit"), incumbent);
  return incumbent.Take();
}

}  // namespace yuba::search
