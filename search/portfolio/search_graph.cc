// The search of one graph: `Search` of search/search.h, and what pins cost.
#include <algorithm>
#include <utility>

#include "opsemantics/base/status.h"
#include "search/baselines/baselines.h"
#include "search/engines/engine.h"
#include "search/engines/levels.h"
#include "search/engines/pins.h"
#include "search/portfolio/check_options.h"
#include "search/search.h"

namespace yuba::search {
namespace {

bool NestByLevel(const Choices& choices) {
  return std::all_of(choices.begin(), choices.end(), [](const Choice& choice) {
    return std::all_of(choice.axes.begin(), choice.axes.end(), [](const AxisList& axes) {
      return std::is_sorted(axes.begin(), axes.end());
    });
  });
}

Plan PlanOfBaseline(const Graph& graph, const SearchOptions& options, const Baseline& baseline,
                    const Budget& budget) {
  Candidate found;
  const BaselineOptions asked = {options.mesh, options.objective, options.table_cells};
  found.choices = FindCheapest(baseline, graph, asked, budget);
  const bool by_level = NestByLevel(found.choices);
  Plan plan = PlanOf(graph, options, std::move(found));
  plan.space.nesting = by_level ? Nesting::kLevel : Nesting::kFree;
  plan.space.replicate = baseline.replicates ? Replicate::kAuto : Replicate::kNone;
  return plan;
}

bool Replicates(const SearchOptions& options) { return options.replicate == Replicate::kAuto; }

absl::StatusOr<Plan> SearchRestricted(const Graph& graph, const SearchOptions& options,
                                      const Restrictions& restrictions, const Budget& budget) {
  if (options.search == "recursive") return SearchRecursive(graph, options, restrictions, budget);
  Task task(graph, options, restrictions, budget);
  return RunEngines(task);
}

absl::StatusOr<Plan> SearchAsAsked(const Graph& graph, const SearchOptions& options,
                                   const Budget& budget) {
  if (const Baseline* baseline = FindBaseline(options.search)) {
    return PlanOfBaseline(graph, options, *baseline, budget);
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<Pin> pins, AllPins(graph, options));
  YUBA_ASSIGN_OR_RETURN(const Restrictions restrictions,
                        RestrictionsOf(graph, options.mesh, pins, Replicates(options)));
  YUBA_RETURN_IF_ERROR(CheckNesting(graph, options, pins));
  YUBA_ASSIGN_OR_RETURN(Plan plan, SearchRestricted(graph, options, restrictions, budget));
  YUBA_RETURN_IF_ERROR(CheckPins(graph, pins, plan));
  plan.space.pins = PinnedBy(restrictions);
  plan.space.pin_texts = options.pin_texts;
  return plan;
}

}  // namespace

std::vector<std::string> SearchNames() {
  std::vector<std::string> names = {"default", "recursive"};
  for (const Baseline& baseline : Baselines()) names.push_back(baseline.name);
  return names;
}

absl::StatusOr<Plan> Search(const Graph& graph, const SearchOptions& given) {
  SearchOptions options = given;
  // What others published counts bytes.
  if (options.search != "default" && options.objective.IsTime()) {
    options.objective = Objective(ObjectiveKind::kBytes, options.objective.machine());
  }
  YUBA_RETURN_IF_ERROR(CheckOptions(graph, options));
  if (options.asked && options.asked()) {
    return absl::CancelledError("interrupted before there was a plan");
  }
  const Budget budget(options.time_limit, options.threads, options.asked);
  YUBA_ASSIGN_OR_RETURN(Plan plan, SearchAsAsked(graph, options, budget));
  if (budget.end() == Budget::End::kTime) plan.stopped = kTimeLimit;
  if (budget.end() == Budget::End::kAsked) plan.stopped = kInterrupt;
  plan.asked_bound = plan.lower_bound;
  return plan;
}

absl::optional<Unpinned> SearchUnpinned(const Graph& graph, const SearchOptions& given,
                                        const Plan& plan) {
  if (plan.space.pins.empty() || given.search != "default") return absl::nullopt;
  SearchOptions options = NamedWithin("unpinned", given);
  options.known_value = 0;
  const Budget budget(options.time_limit, options.threads, options.asked);
  const Restrictions none;
  Task task(graph, options, none, budget);
  task.explain = false;
  const absl::StatusOr<Plan> found = RunEngines(task);
  if (!found.ok()) return absl::nullopt;
  return Unpinned{std::min(found->value(), plan.value()), found->lower_bound};
}

absl::StatusOr<std::vector<PinPrice>> PricesOfPins(const Graph& graph, const SearchOptions& given,
                                                   const Plan& plan) {
  const SearchOptions options = NamedWithin("prices of pins", given);
  const Budget budget(options.time_limit, options.threads, options.asked);
  std::vector<PinPrice> prices;
  const std::vector<std::string> texts = PinTexts(options);
  if (texts.size() == 1 && plan.unpinned.has_value()) {
    return std::vector<PinPrice>{{texts[0], plan.value() - plan.unpinned->value}};
  }
  for (const std::string& text : texts) {
    YUBA_ASSIGN_OR_RETURN(const std::vector<Pin> others, AllPins(graph, WithoutPin(options, text)));
    YUBA_ASSIGN_OR_RETURN(const Restrictions restrictions,
                          RestrictionsOf(graph, options.mesh, others, Replicates(options)));
    const absl::StatusOr<Plan> without = SearchRestricted(graph, options, restrictions, budget);
    if (!without.ok() || budget.end() != Budget::End::kNone) break;
    prices.push_back({text, plan.value() - without->value()});
  }
  return prices;
}

}  // namespace yuba::search
