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
  if (task.limited() || task.repeats) return false;
  return !OnGrids(task) || !IsReached(incumbent);
}
bool AnotherGraph(Task& task, const Incumbent& incumbent) {
  if (task.graph().copies == 0 || task.pinned()) return false;
  return OnGrids(task) ? !IsReached(incumbent) : OnWideTables(task) && !incumbent.IsNear();
}
bool AxesCanImprove(Task& task, const Incumbent& incumbent) {
  return OnGrids(task) && task.axes != nullptr && incumbent.HasPlan() && !IsReached(incumbent);
}
bool OnTablesWithGap(Task& task, const Incumbent&) { return OnWideTables(task); }
bool NothingRepeats(Task& task, const Incumbent&) { return OnWideTables(task) && !task.repeats; }
bool TablesCanBePruned(Task& task, const Incumbent& incumbent) {
  return OnWideTables(task) && incumbent.HasPlan();
}
bool GridsCanBePruned(Task& task, const Incumbent& incumbent) {
  return OnGrids(task) && !task.pinned() && incumbent.HasPlan() && !incumbent.IsNear();
}

// Read from top to bottom. An engine that is listed twice runs where it first applies.
constexpr Engine kEngines[] = {
    {"plain", IsLimited, SearchPlain},                 // the plan without limit and replicas
    {"limit", LimitMatters, SearchLimit},              // within the limit, or with replicas
    {"eliminate", SoonEliminated, EliminateAll},       // exactly, on tables of all choices
    {"grids", GridsHelp, BoundGrids},                  // the dual bound of grids
    {"axes", HasLikelyGrids, PlaceAxes},               // mesh axes for likely grids
    {"eliminate", CanBeEliminated, EliminateAll},      // exactly, on tables of all choices
    {"repeat", OnTablesWithGap, SolveRepeated},        // repeated blocks choose alike
    {"repeat", AxesCanImprove, RepeatAxes},            // repeated blocks choose alike
    {"levels", AnotherStart, SearchLevels},            // one mesh axis at a time
    {"uncopied", AnotherGraph, SearchUncopied},        // the plan without copies
    {"improve", AxesCanImprove, ImproveAxes},          // mesh axes, from the best plan
    {"local", OnTablesWithGap, SearchAround},          // local search, from all plans
    {"prune", TablesCanBePruned, PruneChoices},        // exactly, what can still be cheaper
    {"prune", GridsCanBePruned, PruneGrids},           // exactly, what can still be cheaper
    {"anchored", NothingRepeats, FollowAnchoredDual},  // local search, from the anchored dual
};

// Runs the engine, and reports what it added since `start`.
void RunOne(const Engine& engine, Clock::time_point start, Task& task, Incumbent& incumbent) {
  EngineReport report;
  report.engine = engine.name;
  report.bytes_before = incumbent.bytes();
  report.bound_before = incumbent.bound().bytes();
  engine.run(task, incumbent);
  report.seconds = SecondsSince(start);
  report.bytes = incumbent.bytes();
  report.bound = incumbent.bound().bytes();
  if (task.options().report) task.options().report(report);
}

// Where the budget is spent or the table ended without a plan: a plan and a bound in overtime, by
// engines that have not run. Within a limit the engine for it brings what is known within the
// limit.
class Late {
 public:
  Late(Task& task, const std::vector<std::string>& done, Incumbent& incumbent)
      : task_(task), done_(done), incumbent_(incumbent) {}

  void Run() {
    if (task_.limited()) {
      if (LimitMatters(task_, incumbent_)) RunIfNew("limit");
      return;
    }
    // On grids a plan is near as soon as there are likely grids; one axis at a time takes longer.
    const bool axes_first = !task_.on_tables();
    if (!incumbent_.HasPlan() && !axes_first) RunNow("levels");
    if (!incumbent_.HasGap()) return;
    RunIfNew("grids");
    if (axes_first && !task_.likely_grids.empty()) RunIfNew("axes");
    if (!incumbent_.HasPlan()) RunNow("levels");  // even where it is left out: some plan is needed
  }

 private:
  void RunIfNew(const std::string& name) {
    if (std::count(done_.begin(), done_.end(), name) == 0) RunNow(name);
  }
  void RunNow(const std::string& name) {
    const auto engine = std::find_if(std::begin(kEngines), std::end(kEngines),
                                     [&](const Engine& each) { return each.name == name; });
    RunOne(*engine, Clock::now(), task_, incumbent_);
  }

  Task& task_;
  const std::vector<std::string>& done_;
  Incumbent& incumbent_;
};

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
  const auto is_done = [&](const std::string& name) {
    return std::count(done.begin(), done.end(), name) > 0;
  };
  if (task.limited() && is_done("limit")) {
    incumbent.Fail(absl::FailedPreconditionError(
        "no plan within the limit was found without the engine \"limit\", which is left out"));
  }
  for (const Engine& engine : kEngines) {
    if (incumbent.HasPlan() && !incumbent.HasGap()) break;
    const Clock::time_point start = Clock::now();  // whether it applies may need tables
    if (is_done(engine.name) || !engine.applies(task, incumbent)) continue;
    if (task.budget().ShouldStop()) break;
    done.push_back(engine.name);
    RunOne(engine, start, task, incumbent);
  }
  const bool spent = task.budget().end() != Budget::End::kNone;
  if (spent || !incumbent.HasPlan()) Late(task, done, incumbent).Run();
  absl::StatusOr<Plan> plan = incumbent.Take();
  if (plan.ok() && task.cut_short) plan->stopped = kTimeLimit;
  return plan;
}

}  // namespace yuba::search
