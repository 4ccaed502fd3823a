#include "search/search.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "opsemantics/sharding/mesh_text.h"
#include "search/baselines/baselines.h"
#include "search/engines/eliminate_all.h"
#include "search/engines/limited.h"
#include "search/engines/unlimited.h"
#include "search/model/graph_problem.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"
#include "search/solve/eliminate.h"
#include "search/space/pin_text.h"

namespace yuba::search {
namespace {

Plan PlanOfBaseline(const Graph& graph, const SearchOptions& options, const Baseline& baseline,
                    const Budget& budget) {
  Candidate found;
  found.choices = baseline.find(graph, options.mesh, options.table_cells, budget);
  Plan plan = PlanOf(graph, options, std::move(found));
  plan.space.nesting = Nesting::kLevel;
  plan.space.replicate = baseline.replicates ? Replicate::kAuto : Replicate::kNone;
  return plan;
}

// Whether the restrictions demand exact axes for every extent of every element.
bool Decided(const Restrictions& restrictions) {
  return !restrictions.empty() &&
         std::all_of(restrictions.begin(), restrictions.end(), [](const Restriction& restriction) {
           return !restriction.none() &&
                  std::none_of(restriction.any_of[0].begin(), restriction.any_of[0].end(),
                               [](const Demand& demand) { return demand.others; });
         });
}

bool Replicates(const SearchOptions& options) { return options.replicate == Replicate::kAuto; }

double BytesOf(const Tensor& tensor) {
  double bytes = ByteSize(AccumulatorType(tensor.type.type));
  for (const int64_t extent : tensor.type.dims) bytes *= static_cast<double>(extent);
  return bytes;
}

// An error where costs could reach kForbidden. A use moves at most its whole tensor into each
// device, and once more into each owner.
absl::Status CheckCountable(const Graph& graph, const Mesh& mesh) {
  double bytes = 0;
  const auto add = [&](TensorId id) { bytes += 2.0 * mesh.devices() * BytesOf(graph.tensors[id]); };
  for (const Node& node : graph.nodes) {
    for (const TensorId operand : node.operands) add(operand);
    add(node.result);
  }
  if (bytes < static_cast<double>(kForbidden)) return absl::OkStatus();
  const auto largest =
      std::max_element(graph.tensors.begin(), graph.tensors.end(),
                       [](const Tensor& a, const Tensor& b) { return BytesOf(a) < BytesOf(b); });
  return UserError("on ", mesh.devices(), " devices this graph could move 10^18 bytes a step or ",
                   "more, which are not counted; its largest tensor is ", largest->name, ", of ",
                   BytesOf(*largest), " bytes: use smaller inputs, or fewer devices");
}

absl::Status CheckOptions(const Graph& graph, const SearchOptions& options) {
  YUBA_RETURN_IF_ERROR(CheckCountable(graph, options.mesh));
  if (HasPartials(graph) && (!Replicates(options) || options.search != "default")) {
    return UserError("sums stay unreduced only with --replicate auto and the default search");
  }
  if (options.search == "default") return absl::OkStatus();
  const bool recursive = options.search == "recursive";
  if (!recursive && FindBaseline(options.search) == nullptr) {
    return UserError("there is no search named \"", options.search, "\"; there are ",
                     absl::StrJoin(SearchNames(), ", "));
  }
  if (options.memory_limit > 0 || Replicates(options)) {
    return UserError("--search ", options.search,
                     " knows neither --memory nor --replicate: use default");
  }
  if (recursive) return absl::OkStatus();
  if (graph.copies > 0) {
    return UserError("--search ", options.search, " knows no shared copies: leave --copies out");
  }
  if (HasAccumulators(graph)) {
    return UserError("--search ", options.search,
                     " knows no accumulators: leave --accumulators out");
  }
  if (options.pins.empty() && options.pin_texts.empty()) return absl::OkStatus();
  return UserError("--search ", options.search,
                   " does as its authors say and takes no pins; use default ", "or recursive");
}

absl::StatusOr<std::vector<Pin>> AllPins(const Graph& graph, const SearchOptions& options) {
  std::vector<Pin> pins = options.pins;
  for (const std::string& text : options.pin_texts) {
    YUBA_ASSIGN_OR_RETURN(const std::vector<Pin> more, ParsePin(graph, options.mesh, text));
    pins.insert(pins.end(), more.begin(), more.end());
  }
  return pins;
}

std::string NameOf(const Graph& graph, const Pin& pin) {
  const std::string name = pin.is_node ? absl::StrCat("node ", graph.nodes[pin.id].name)
                                       : absl::StrCat("tensor ", graph.tensors[pin.id].name);
  return pin.text.empty() ? name : absl::StrCat(name, " (", pin.text, ")");
}

// An error where axes must nest by level and a pin demands another order.
absl::Status CheckNesting(const Graph& graph, const SearchOptions& options,
                          const std::vector<Pin>& pins) {
  if (!NestsByLevel(options)) return absl::OkStatus();
  for (const Pin& pin : pins) {
    if (NestByLevel(pin.demands)) continue;
    return UserError("the pin of ", NameOf(graph, pin),
                     " nests axes in an order that is not the mesh's (", MeshText(options.mesh),
                     "), and here they nest in that order: write it so, ",
                     "or leave --search recursive or --space tofu out");
  }
  return absl::OkStatus();
}

// An error where the plan does not meet the demands of a pin.
absl::Status CheckPins(const Graph& graph, const std::vector<Pin>& pins, const Plan& plan) {
  for (const Pin& pin : pins) {
    if (Meets(pin.is_node ? plan.nodes[pin.id] : plan.tensors[pin.id], pin.demands)) continue;
    return UserError("no plan was found that has what the pin of ", NameOf(graph, pin),
                     " demands: demand less, or use fewer devices");
  }
  return absl::OkStatus();
}

bool Limited(const SearchOptions& options) {
  return options.memory_limit > 0 || Replicates(options);
}

absl::StatusOr<Plan> SearchRestricted(const Graph& graph, const SearchOptions& options,
                                      const Restrictions& restrictions, const Budget& budget) {
  if (Limited(options)) return SearchWithMemory(graph, options, restrictions, budget);
  return SearchUnlimited(graph, options, restrictions, budget);
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
  if (restrictions.empty() || options.search == "recursive") return plan;
  plan.proof = Proof();
  plan.lower_bound = 0;
  if (Decided(restrictions) || budget.ShouldStop()) return plan;
  // The bound is of all plans, pinned or not, so that the gap is what the pins cost.
  absl::StatusOr<Plan> unpinned = Limited(options) ? SearchForBound(graph, options, budget)
                                                   : SearchUnlimited(graph, options, {}, budget);
  if (!unpinned.ok()) return plan;
  plan.lower_bound = unpinned->lower_bound;
  plan.proof = std::move(unpinned->proof);
  return plan;
}

// Whether all axes together can be placed by exact elimination, nothing replicated.
bool CanBeEliminated(const Graph& graph, const SearchOptions& options) {
  if (!FitsInTables(graph, options.mesh)) {
    return IsSoonEliminated(graph, options, {}, Budget::Unlimited());
  }
  // Which elements meet decides, not what they cost: no table is made.
  ProblemOptions scopes = AllAxesOf(options, {}, Budget::Unlimited());
  scopes.tables = false;
  const Problem problem = BuildProblem(graph, scopes);
  return GreedyOrder(problem.pairwise, options.table_cells, Budget::Unlimited()).has_value();
}

}  // namespace

std::vector<std::string> SearchNames() {
  std::vector<std::string> names = {"default", "recursive"};
  for (const Baseline& baseline : Baselines()) names.push_back(baseline.name);
  return names;
}

SearchOptions InTimeLeft(SearchOptions options, const Budget& budget) {
  if (options.time_limit > 0) {
    options.time_limit = std::max(1e-3, options.time_limit - budget.Elapsed());
  }
  return options;
}

std::vector<std::string> PinTexts(const SearchOptions& options) {
  std::vector<std::string> texts;
  const auto add = [&](const std::string& text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  };
  for (const Pin& pin : options.pins) add(pin.text);
  for (const std::string& text : options.pin_texts) add(text);
  return texts;
}

SearchOptions WithoutPin(SearchOptions options, const std::string& text) {
  const auto is_it = [&](const Pin& pin) { return pin.text == text; };
  std::vector<Pin>& pins = options.pins;
  pins.erase(std::remove_if(pins.begin(), pins.end(), is_it), pins.end());
  std::vector<std::string>& texts = options.pin_texts;
  texts.erase(std::remove(texts.begin(), texts.end(), text), texts.end());
  return options;
}

Graph SharedGraph(const Graph& bare, const SearchOptions& options) {
  const bool automatic = options.accumulators == Accumulators::kAuto;
  const bool none =
      options.accumulators == Accumulators::kNone || (automatic && options.copies == 0);
  Graph graph = WithCopies(bare, options.copies);
  if (!none) {
    Graph accumulating = WithAccumulators(graph, options.mesh);
    const bool take =
        !automatic || !HasAccumulators(accumulating) ||
        (CheckCountable(accumulating, options.mesh).ok() && CanBeEliminated(accumulating, options));
    if (take) graph = std::move(accumulating);
  }
  const bool pinned = !options.pins.empty() || !options.pin_texts.empty();
  if (!Replicates(options) || options.search != "default" || pinned) return graph;
  Graph unreduced = WithPartials(graph, options.mesh);
  return FitsInTables(unreduced, options.mesh) ? unreduced : graph;
}

absl::StatusOr<Plan> Search(const Graph& graph, const SearchOptions& options) {
  YUBA_RETURN_IF_ERROR(CheckOptions(graph, options));
  if (options.asked && options.asked()) {
    return absl::CancelledError("interrupted before there was a plan");
  }
  const Budget budget(options.time_limit, options.threads, options.asked);
  YUBA_ASSIGN_OR_RETURN(Plan plan, SearchAsAsked(graph, options, budget));
  if (budget.end() == Budget::End::kTime) plan.stopped = kTimeLimit;
  if (budget.end() == Budget::End::kAsked) plan.stopped = kInterrupt;
  return plan;
}

absl::StatusOr<std::vector<PinPrice>> PricesOfPins(const Graph& graph, const SearchOptions& options,
                                                   const Plan& plan) {
  const Budget budget(options.time_limit, options.threads, options.asked);
  std::vector<PinPrice> prices;
  for (const std::string& text : PinTexts(options)) {
    YUBA_ASSIGN_OR_RETURN(const std::vector<Pin> others, AllPins(graph, WithoutPin(options, text)));
    YUBA_ASSIGN_OR_RETURN(const Restrictions restrictions,
                          RestrictionsOf(graph, options.mesh, others, Replicates(options)));
    const absl::StatusOr<Plan> without = SearchRestricted(graph, options, restrictions, budget);
    if (!without.ok() || budget.end() != Budget::End::kNone) break;
    prices.push_back({text, plan.cost.bytes() - without->cost.bytes()});
  }
  return prices;
}

}  // namespace yuba::search
