#include "compiler/search_spaces.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "compiler/pins_in_the_way.h"
#include "compiler/search_within.h"
#include "search/cost/table_cache.h"
#include "search/engines/limited.h"
#include "search/model/grid_bound.h"
#include "search/model/grid_problem.h"
#include "search/rewrite/accumulators.h"
#include "search/rewrite/partials.h"
#include "search/solve/budget.h"

namespace yuba::compiler {
namespace {

// Accumulators are searched in full only where the quick recursion saves 2 % of the bytes with
// them.
constexpr double kLikely = 0.98;

// Whether axes of these sizes, in every order, cut the factors from `factor` on into whole ones:
// each axis divides what is still whole of the factor that it comes to. `left` is what is still
// whole of factors[factor].
bool Nests(const std::vector<int64_t>& factors, size_t factor, int64_t left,
           const std::vector<int>& sizes) {
  while (left == 1 && ++factor < factors.size()) left = factors[factor];
  if (factor == factors.size()) return true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0 && sizes[i] == sizes[i - 1]) continue;
    std::vector<int> others = sizes;
    others.erase(others.begin() + static_cast<int64_t>(i));
    if (left % sizes[i] != 0 || !Nests(factors, factor, left / sizes[i], others)) return false;
  }
  return true;
}

// Whether the definition reads one tensor along two orders of indices, as x + transpose(x) does.
bool ReadsTwoViews(const Definition& definition) {
  const auto indices_of = [](const Affine& position) {
    std::set<int> indices;
    for (const auto& term : position.terms) indices.insert(term.first);
    return indices;
  };
  std::map<int, std::vector<Affine>> first;  // operand -> the position of its first read
  bool two = false;
  Walk(definition.body, [&](const Expr& expr) {
    if (expr.kind != Expr::kRead) return;
    const std::vector<Affine>& other = first.emplace(expr.operand, expr.position).first->second;
    for (size_t d = 0; d < other.size(); ++d) {
      const std::set<int> a = indices_of(expr.position[d]), b = indices_of(other[d]);
      two = two || (!a.empty() && !b.empty() && a != b);
    }
  });
  return two;
}

// Whether the boxes that the definition reads may hold more elements than would move through a
// tensor of flat dimensions in between.
bool HasLooseBoxes(const Definition& definition) {
  return definition.reducer == Reducer::kPick || ReadsTwoViews(definition);
}

// Whether a quick lower bound shows that no plan of `graph` moves fewer than `bytes`.
bool NoneBelow(int64_t bytes, const Graph& graph, const search::SearchOptions& options,
               const search::Budget& budget) {
  const double enough = static_cast<double>(bytes) * (1 + 1e-6);
  const std::vector<search::TensorUse> uses = search::TensorUsesOf(graph, options.mesh);
  search::TableCache* const known = options.table_cache.get();
  return search::DualBound(graph, options.mesh, uses, budget, enough, known).bytes >= bytes;
}

// Whether the search of alternatives ends here: the plan moves nothing, was stopped or failed for
// another reason than memory, or there is no time left.
bool IsOver(const absl::StatusOr<search::Plan>& plan, const search::Budget& budget) {
  const absl::Status& status = plan.status();
  if (!plan.ok() && !absl::IsFailedPrecondition(status) && !absl::IsNotFound(status)) return true;
  return (plan.ok() && (plan->cost.bytes() == 0 || !plan->stopped.empty())) || budget.ShouldStop();
}

// Whether no plan of the graph without accumulators moves less, whatever memory it takes: each such
// plan has a counterpart with accumulators that moves no more, and `plan` is the best of those.
// That does not hold of graphs with partials, whose partials differ without accumulators.
bool MovesLeast(const absl::StatusOr<search::Plan>& plan, const Graph& graph) {
  return plan.ok() && plan->cost.bytes() <= plan->lower_bound && plan->proof.prices.empty() &&
         !search::HasPartials(graph);
}

std::string StoppedBy(const absl::StatusOr<search::Plan>& plan) {
  if (plan.ok()) return plan->stopped;
  if (absl::IsDeadlineExceeded(plan.status())) return search::kTimeLimit;
  return absl::IsCancelled(plan.status()) ? search::kInterrupt : "";
}

// Puts `found` in the place of `plan` where it is better.
bool Take(absl::StatusOr<search::Plan> found, absl::StatusOr<search::Plan>& plan) {
  const std::string stopped = StoppedBy(found);
  const bool better = search::IsBetter(found, plan);
  if (better) plan = std::move(found);
  if (plan.ok() && plan->stopped.empty()) plan->stopped = stopped;
  return better;
}

// `options` with a table cache, so that what one search has counted the next one need not.
search::SearchOptions Remembering(search::SearchOptions options) {
  options.table_cache = std::make_shared<search::TableCache>();
  return options;
}

// `plan`, marked as stopped where the budget ended any search, also that of an alternative.
absl::StatusOr<search::Plan> Marked(absl::StatusOr<search::Plan> plan,
                                    const search::Budget& budget) {
  if (plan.ok() && budget.end() == search::Budget::End::kTime) plan->stopped = search::kTimeLimit;
  if (plan.ok() && budget.end() == search::Budget::End::kAsked) plan->stopped = search::kInterrupt;
  return plan;
}

// Whether there are plans with accumulators that the search of this graph leaves out.
bool MaySave(const search::SearchOptions& options, const Graph& graph) {
  return options.accumulators == search::Accumulators::kAuto && options.copies > 0 &&
         options.search == "default" && options.pins.empty() && options.pin_texts.empty() &&
         !search::HasAccumulators(graph);
}

// The gap: the part of a plan's bytes that lies above its lower bound, 0 to 1.
double GapOf(const search::Plan& plan) {
  const auto bytes = static_cast<double>(plan.cost.bytes());
  return bytes == 0 ? 0 : (bytes - static_cast<double>(plan.lower_bound)) / bytes;
}

// Whether `found` saves bytes over `plan`, and either saves more than its bound leaves open or has
// no larger a gap: a plan that is only a little cheaper is not worth a looser bound.
bool IsWorthIt(const search::Plan& found, const search::Plan& plan) {
  const int64_t bytes = found.cost.bytes(), saved = plan.cost.bytes() - bytes;
  return saved > 0 && (saved > bytes - found.lower_bound || GapOf(found) <= GapOf(plan));
}

// Replaces `plan`, and the model's graph, by a plan with accumulators where that is worth it. It is
// searched for only where the quick recursion already saves with accumulators. That search has no
// limit on memory; the plan is taken if its arena happens to meet the limit.
void TryAccumulators(const Graph& bare, search::SearchOptions options, const search::Budget& budget,
                     absl::StatusOr<search::Plan>& plan, Model& model) {
  options.accumulators = search::Accumulators::kAll;
  Graph graph = search::SharedGraph(bare, options);
  if (!search::HasAccumulators(graph)) return;
  search::SearchOptions quick = search::InTimeLeft(options, budget);
  quick.search = "recursive";
  quick.replicate = search::Replicate::kNone;
  quick.memory_limit = 0;
  const absl::StatusOr<search::Plan> likely = search::Search(graph, quick);
  // The recursion knows neither replicas nor a limit. Where the plan may have been searched with
  // either, the recursion with accumulators is compared to the recursion without.
  const bool alike = options.replicate == search::Replicate::kNone && options.memory_limit == 0;
  quick.time_limit = search::InTimeLeft(options, budget).time_limit;
  const absl::StatusOr<search::Plan> before = alike ? plan : search::Search(model.graph, quick);
  if (!likely.ok() || !before.ok() ||
      static_cast<double>(likely->cost.bytes()) >
          kLikely * static_cast<double>(before->cost.bytes())) {
    return;
  }
  std::swap(model.graph, graph);
  search::SearchOptions wide = search::InTimeLeft(options, budget);
  wide.memory_limit = 0;
  absl::StatusOr<search::Plan> found = SearchWithinMemory(model, wide);
  if (found.ok()) found->space.memory = options.memory_limit;
  const bool taken =
      found.ok() && IsWorthIt(*found, *plan) &&
      (options.memory_limit == 0 || ArenaBytes(model, *found) <= options.memory_limit) &&
      Take(std::move(found), plan);
  if (!taken) std::swap(model.graph, graph);
}

// The best plan of the model with what the options let it share, and of the model without
// accumulators where there is a limit on memory, since partials that wait for their sum take
// memory.
absl::StatusOr<search::Plan> SearchShared(const search::SearchOptions& options,
                                          const search::Budget& budget, Model& model) {
  Graph bare = std::move(model.graph);
  model.graph = search::SharedGraph(bare, options);
  absl::StatusOr<search::Plan> plan =
      SearchWithinMemory(model, search::InTimeLeft(options, budget));
  const bool may_differ = options.memory_limit > 0 &&
                          options.accumulators == search::Accumulators::kAuto &&
                          options.pins.empty() && search::HasAccumulators(model.graph);
  if (plan.ok() && MaySave(options, model.graph) && !IsOver(plan, budget)) {
    TryAccumulators(bare, options, budget, plan, model);
  }
  if (!may_differ || IsOver(plan, budget) || MovesLeast(plan, model.graph)) return plan;
  search::SearchOptions without = search::InTimeLeft(options, budget);
  without.accumulators = search::Accumulators::kNone;
  if (plan.ok()) without.known_bytes = plan->cost.bytes();
  Graph accumulating = std::move(model.graph);
  model.graph = search::SharedGraph(bare, without);
  if (!Take(SearchWithinMemory(model, without), plan)) model.graph = std::move(accumulating);
  return plan;
}

// Imports the file again without factors and searches that model. It replaces `model`, and its plan
// replaces `plan`, where its plan is better.
void TryFlat(onnx::ImportOptions import, search::SearchOptions options,
             const search::Budget& budget, absl::StatusOr<search::Plan>& plan, Model& model) {
  import.factors = false;
  options.factors = false;
  absl::StatusOr<Model> flat = onnx::ImportOnnx(model.file, import);
  if (!flat.ok()) return;
  const bool bounded = plan.ok() && options.replicate == search::Replicate::kNone;
  if (bounded &&
      NoneBelow(plan->cost.bytes(), search::SharedGraph(flat->graph, options), options, budget)) {
    return;
  }
  if (plan.ok() && budget.ShouldStop()) return;
  if (plan.ok()) options.known_bytes = plan->cost.bytes();
  if (Take(SearchShared(options, budget, *flat), plan)) model = *std::move(flat);
}

absl::StatusOr<search::Plan> SearchFactoredAndFlat(const onnx::ImportOptions& import,
                                                   const search::SearchOptions& options,
                                                   Model& model) {
  const search::Budget budget(options.time_limit, options.threads, options.asked);
  const bool may_differ = options.pins.empty() && FlatMayDiffer(model.graph, options.mesh);
  absl::StatusOr<search::Plan> plan = SearchShared(options, budget, model);
  // Where the time was too short for any plan with factors, flat dimensions may have one that fits.
  if (may_differ && (absl::IsDeadlineExceeded(plan.status()) || !IsOver(plan, budget))) {
    TryFlat(import, options, budget, plan, model);
  }
  return Marked(std::move(plan), budget);
}

}  // namespace

bool FlatMayDiffer(const Graph& graph, const Mesh& mesh) {
  std::vector<int> sizes;
  for (const MeshAxis& axis : mesh.axes) sizes.push_back(axis.size);
  std::sort(sizes.begin(), sizes.end());
  std::set<std::vector<int64_t>> known;
  for (const Tensor& tensor : graph.tensors) {
    for (const std::vector<int64_t>& factors : tensor.dims) {
      if (factors.size() < 2 || !known.insert(factors).second) continue;
      if (!Nests(factors, 0, factors[0], sizes)) return true;
    }
  }
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return HasLooseBoxes(*node.definition); });
}

absl::StatusOr<search::Plan> SearchSpace(const search::SearchOptions& asked, Model& model) {
  return SearchNamingPins(
      Remembering(asked), model, [](const search::SearchOptions& options, Model& restricted) {
        const search::Budget budget(options.time_limit, options.threads, options.asked);
        return Marked(SearchShared(options, budget, restricted), budget);
      });
}

absl::StatusOr<search::Plan> SearchSpaces(const onnx::ImportOptions& import,
                                          const search::SearchOptions& asked, Model& model) {
  return SearchNamingPins(Remembering(asked), model,
                          [&](const search::SearchOptions& options, Model& restricted) {
                            return SearchFactoredAndFlat(import, options, restricted);
                          });
}

}  // namespace yuba::compiler
