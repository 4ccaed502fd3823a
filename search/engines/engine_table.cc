#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/clock.h"
#include "search/engines/choices_within.h"
#include "search/engines/engine.h"
#include "search/engines/grids_within.h"
#include "search/engines/nothing_fits.h"
#include "search/model/recursion.h"
#include "search/search.h"

namespace yuba::search {
namespace {

using Memory = Engine::Memory;
constexpr Memory kFree = Memory::kFree, kLimited = Memory::kLimited;

// Where time has run out within a limit, a gap of 1/20 of the bytes is not worth other plans.
constexpr int64_t kNearLate = 20;

bool OnGrids(Task& task) { return !task.on_tables(); }
// On tables that were not eliminated: then there would be no gap.
bool OnWideTables(Task& task) { return task.on_tables() && task.problem().complete; }

bool Always(Task&, const Incumbent&) { return true; }
bool CanBeEliminated(Task& task, const Incumbent&) {
  return task.on_tables() && task.order().has_value();
}
// A longer elimination has nothing before its end: grids come first, for the case that time runs
// out.
bool SoonEliminated(Task& task, const Incumbent& incumbent) {
  return CanBeEliminated(task, incumbent) && task.order()->sums <= kSoonSums;
}
bool HasLikelyGrids(Task& task, const Incumbent&) { return !task.likely_grids.empty(); }
// On grids one axis at a time ends farther from the bound than axes do, and never refines them:
// within a thousandth it takes 2 of 9 seconds of Llama-3-8B on 64 devices for nothing.
bool AnotherStart(Task& task, const Incumbent& incumbent) {
  if (task.repeats) return false;
  return !OnGrids(task) || !incumbent.HasPlan() || !incumbent.IsNear();
}
bool HasCopies(Task& task) { return task.graph().copies && !task.pinned(); }
bool AnotherGraph(Task& task, const Incumbent& incumbent) {
  return HasCopies(task) && OnWideTables(task) && !incumbent.IsNear();
}
bool RepeatedAxesHelp(Task& task, const Incumbent& incumbent) {
  return OnGrids(task) && incumbent.HasPlan() && !incumbent.IsNear();
}
// A copy pays only where all its readers agree, so axes for grids with copies may end far from the
// best where they do not begin from a plan without: ResNet-50's training on 8 devices then moves
// 1.1 % more. Where blocks repeat they mostly do not, and that search is a fifth to a half of the
// time (decision 143).
constexpr int64_t kFarWithCopies = 102;
bool CopiesMislead(Task& task, const Incumbent& incumbent) {
  return RepeatedAxesHelp(task, incumbent) && HasCopies(task) && HasLikelyGrids(task, incumbent) &&
         !(task.tiled && incumbent.IsWithin(kFarWithCopies));
}
bool LikelyGridsHelp(Task& task, const Incumbent& incumbent) {
  return RepeatedAxesHelp(task, incumbent) && HasLikelyGrids(task, incumbent);
}
bool OnTablesWithGap(Task& task, const Incumbent&) { return OnWideTables(task); }
bool NothingRepeats(Task& task, const Incumbent&) { return OnWideTables(task) && !task.repeats; }

// On tables the engine "smallest" finds a smaller program in a short time.
bool MayFitNothing(Task& task, const Incumbent&) {
  return OnGrids(task) && task.options().memory_limit > 0;
}
// No limit makes plans cheaper, replicas do.
bool LimitMatters(Task& task, const Incumbent&) { return !task.plain_fits || task.replicated(); }
bool LimitOnTables(Task& task, const Incumbent& incumbent) {
  return LimitMatters(task, incumbent) && task.on_tables();
}
bool ReplicasHelp(Task& task, const Incumbent&) { return task.replicated(); }
// Without a limit, baselines without replicas are never cheaper than the plan without replicas.
bool BaselinesHelp(Task& task, const Incumbent& incumbent) {
  return LimitOnTables(task, incumbent) && task.options().memory_limit > 0 && !task.plain_fits;
}
bool HasPrices(Task& task, const Incumbent&) {
  return task.choices_within != nullptr && task.choices_within->HasPrices();
}
// Where tables are too large or cannot be eliminated.
bool GridsHelp(Task& task, const Incumbent& incumbent) {
  if (!LimitMatters(task, incumbent)) return false;
  if (task.choices_within == nullptr) return true;
  return HasPrices(task, incumbent) && !task.choices_within->HasBound() &&
         task.options().known_value == 0;
}
// Where there are many variables, and local search on tables ends far from the bound.
bool GridsMayHelp(Task& task, const Incumbent& incumbent) {
  return HasPrices(task, incumbent) && task.choices_within->IsWide() &&
         !incumbent.IsWithin(kFarWithin) && task.options().known_value == 0;
}
bool GridsAreBounded(Task& task, const Incumbent&) {
  return task.grids_within != nullptr && task.grids_within->HasBound();
}
bool RowsHelp(Task& task, const Incumbent& incumbent) {
  return GridsAreBounded(task, incumbent) && task.grids_within->CanPlaceAxes();
}
bool PricesHelp(Task& task, const Incumbent& incumbent) {
  return HasPrices(task, incumbent) &&
         (task.choices_within->HasBound() || !incumbent.IsWithin(kNearWithin));
}
bool NothingFits(Task&, const Incumbent& incumbent) { return !incumbent.HasPlan(); }
bool SmallestIsAsked(Task& task, const Incumbent& incumbent) {
  return !incumbent.HasPlan() && task.explain && task.choices_within != nullptr;
}

// Read from top to bottom: the rows of tasks whose memory is free, or those of limited ones. An
// engine that is listed twice runs where it first applies.
constexpr Engine kEngines[] = {
    {"eliminate", kFree, SoonEliminated, EliminateAll},    // exactly, on tables
    {"grids", kFree, Always, BoundGrids},                  // the dual bound of grids
    {"axes", kFree, HasLikelyGrids, PlaceAxes},            // mesh axes for likely grids
    {"eliminate", kFree, CanBeEliminated, EliminateAll},   // exactly, on tables
    {"likely", kFree, LikelyGridsHelp, SolveLikely},       // exactly, the choices of likely grids
    {"repeat", kFree, OnTablesWithGap, SolveRepeated},     // repeated blocks choose alike
    {"repeat", kFree, RepeatedAxesHelp, RepeatAxes},       // repeated blocks choose alike
    {"uncopied", kFree, CopiesMislead, AxesFromUncopied},  // axes from the plan without copies
    {"levels", kFree, AnotherStart, SearchLevels},         // one mesh axis at a time
    {"uncopied", kFree, AnotherGraph, SearchUncopied},     // the plan without copies
    {"local", kFree, OnTablesWithGap, SearchAround},       // local search, from all plans
    {"anchored", kFree, NothingRepeats, FollowAnchoredDual},  // local, from the anchored dual
    {"least", kLimited, MayFitNothing, CheckLeastWithin},     // what every plan has in use
    {"plain", kLimited, Always, SearchPlain},                 // the plan without limit and replicas
    {"levels", kLimited, LimitMatters, SearchLevels},         // one mesh axis at a time
    {"prices", kLimited, LimitOnTables, PriceChoices},        // tables, priced by memory
    {"replicating", kLimited, ReplicasHelp, OfferReplicating},  // baselines with replicas
    {"baselines", kLimited, BaselinesHelp, OfferBaselines},     // baselines without
    {"grids", kLimited, GridsHelp, BoundGridsWithin},           // their bound, priced by memory
    {"axes", kLimited, GridsAreBounded, PlaceAxesWithin},       // mesh axes that keep to the limit
    {"rows", kLimited, RowsHelp, SearchRows},                   // grids that keep to the limit
    {"local", kLimited, PricesHelp, SearchWithinRows},          // local search at the prices
    {"grids", kLimited, GridsMayHelp, BoundGridsWithin},        // their bound, priced by memory
    {"axes", kLimited, GridsAreBounded, PlaceAxesWithin},       // mesh axes that keep to the limit
    {"rows", kLimited, RowsHelp, SearchRows},                   // grids that keep to the limit
    {"baselines", kLimited, NothingFits, OfferBaselines},       // baselines without replicas
    {"smallest", kLimited, SmallestIsAsked, SeekSmallest},      // what would be enough
};

std::vector<Engine> EnginesFor(const Task& task) {
  const Memory memory = task.limited() ? Memory::kLimited : Memory::kFree;
  std::vector<Engine> engines;
  std::copy_if(std::begin(kEngines), std::end(kEngines), std::back_inserter(engines),
               [memory](const Engine& engine) { return engine.memory == memory; });
  return engines;
}

// Runs the engine, and reports what it added since `start`.
void RunOne(const Engine& engine, Clock::time_point start, Task& task, Incumbent& incumbent) {
  EngineReport report;
  report.engine = engine.name;
  report.objective = task.options().objective.kind();
  report.before = incumbent.bytes();
  report.bound_before = incumbent.bound().bytes();
  incumbent.Begin(engine.name);
  engine.run(task, incumbent);
  report.seconds = SecondsSince(start);
  report.value = incumbent.bytes();
  report.bound = incumbent.bound().bytes();
  if (task.options().report) task.options().report(report);
}

// Where the budget is spent or the table ended without a plan: a plan and a bound in overtime, by
// engines that have not run.
class Late {
 public:
  Late(Task& task, const std::vector<std::string>& done, Incumbent& incumbent)
      : task_(task), engines_(EnginesFor(task)), done_(done), incumbent_(incumbent) {}

  void Run() {
    if (task_.limited()) return RunWithin();
    // On grids a plan is near as soon as there are likely grids; one axis at a time takes longer.
    const bool axes_first = !task_.on_tables();
    if (!incumbent_.HasPlan() && !axes_first) RunNow("levels");
    if (!incumbent_.HasGap()) return;
    RunIfNew("grids");
    // On 4,096 devices this takes a second and, where there is a plan, improves it little.
    if (axes_first && !incumbent_.HasPlan() && !task_.likely_grids.empty()) RunIfNew("axes");
    if (!incumbent_.HasPlan()) RunNow("levels");  // even where it is left out: some plan is needed
  }

 private:
  // The cheapest plan that fits, of the recursion and of the baselines: without them a longer
  // search could end with a dearer plan. Then a bound.
  void RunWithin() {
    const auto is_far = [&] {
      return !IsNear(incumbent_.bytes(), incumbent_.bound().bytes(), kNearLate);
    };
    if (task_.replicated()) RunIfNew("replicating");
    if (is_far()) RunIfNew("levels");
    if (is_far() && HasPrices(task_, incumbent_)) RunIfNew("local");
    if (is_far()) RunIfNew("baselines");
    if (!incumbent_.HasPlan() || incumbent_.bytes() == 0 || incumbent_.bound().bytes() > 0) return;
    task_.ExtendTime();  // the baselines may have taken all of it
    const std::vector<std::string>& without = task_.options().without;
    if (std::count(without.begin(), without.end(), "grids") == 0) RunNow("grids");
  }

  void RunIfNew(const std::string& name) {
    if (std::count(done_.begin(), done_.end(), name) == 0) RunNow(name);
  }
  void RunNow(const std::string& name) {
    const auto engine = std::find_if(engines_.begin(), engines_.end(),
                                     [&](const Engine& each) { return each.name == name; });
    YUBA_CHECK(engine != engines_.end());
    RunOne(*engine, Clock::now(), task_, incumbent_);
  }

  Task& task_;
  const std::vector<Engine> engines_;
  const std::vector<std::string>& done_;
  Incumbent& incumbent_;
};

// Why no plan within the limit was found.
absl::Status WhyNothingFits(Task& task, const Incumbent& incumbent) {
  if (task.budget().end() != Budget::End::kNone && !task.nothing_fits) {
    return StoppedWithin(task.budget(), task.limit());
  }
  if (task.choices_within != nullptr) {
    return task.choices_within->WhyNothingFits(incumbent.smallest());
  }
  if (task.grids_within != nullptr && task.grids_within->HasRows()) {
    return task.grids_within->WhyNothingFits(incumbent.smallest());
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "no plan within ", task.limit(), " bytes a device was found without the engines ",
      absl::StrJoin(task.options().without, ", ")));
}

}  // namespace

std::vector<std::string> EngineNames() {
  std::vector<std::string> names;
  for (const Engine& engine : kEngines) {
    if (std::count(names.begin(), names.end(), engine.name) == 0) names.push_back(engine.name);
  }
  names.push_back(kScheduled);
  return names;
}

SearchOptions NamedWithin(const std::string& name, SearchOptions options) {
  const auto named = [&name](auto& call, auto example) {
    if (!call) return;
    call = [name, outer = std::move(call)](decltype(example) event) {
      event.engine = absl::StrCat(name, "/", event.engine);
      outer(event);
    };
  };
  options.by_level = nullptr;
  named(options.report, EngineReport());
  named(options.progress, SearchProgress());
  return options;
}

absl::StatusOr<Plan> RunEngines(Task& task) {
  Incumbent incumbent(task.graph(), task.options(), task.restrictions());
  std::vector<std::string> done = task.options().without;
  const std::vector<std::string> all = EngineNames();
  for (const std::string& name : done) {  // engines too name some that their searches leave out
    YUBA_CHECK(std::count(all.begin(), all.end(), name) > 0) << name;
  }
  const auto is_done = [&](const std::string& name) {
    return std::count(done.begin(), done.end(), name) > 0;
  };
  for (const Engine& engine : EnginesFor(task)) {
    if (!incumbent.IsOfUse() || (incumbent.HasPlan() && !incumbent.HasGap())) break;
    if (task.nothing_fits) break;
    const Clock::time_point start = Clock::now();  // whether it applies may need tables
    if (is_done(engine.name) || !engine.applies(task, incumbent)) continue;
    if (task.budget().ShouldStop()) break;
    done.push_back(engine.name);
    RunOne(engine, start, task, incumbent);
  }
  const bool spent = task.budget().end() != Budget::End::kNone;
  const bool late = spent || !incumbent.HasPlan();
  if (incumbent.IsOfUse() && late && !task.nothing_fits) Late(task, done, incumbent).Run();
  if (task.limited() && !incumbent.HasPlan()) incumbent.Fail(WhyNothingFits(task, incumbent));
  absl::StatusOr<Plan> plan = incumbent.Take();
  if (!plan.ok() && task.nothing_fits) return WithBound(plan.status(), kForbidden);
  if (plan.ok() && task.cut_short) plan->stopped = kTimeLimit;
  return plan;
}

}  // namespace yuba::search
