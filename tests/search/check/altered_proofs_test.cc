// Proofs with one number changed: a bound that does not hold is never accepted.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "search/check/check.h"
#include "search/model/graph_problem.h"
#include "search/model/memory_rows.h"
#include "search/search.h"
#include "tests/support/engines.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// A number of the proof, to be read and written in place.
struct Number {
  std::function<int64_t()> get;
  std::function<void(int64_t)> set;
};

template <typename T>
Number At(T* place) {
  return {[place] { return int64_t{*place}; },
          [place](int64_t value) { *place = static_cast<T>(value); }};
}

std::vector<Number> NumbersOf(Proof* proof) {
  std::vector<Number> numbers;
  for (int& element : proof->order) numbers.push_back(At(&element));
  for (DualMessage& message : proof->messages) {
    numbers.push_back(At(&message.tensor));
    numbers.push_back(At(&message.node));
    for (int64_t& value : message.values) numbers.push_back(At(&value));
  }
  for (MemoryPrice& price : proof->prices) {
    numbers.push_back(At(&price.time));
    numbers.push_back(At(&price.price));
  }
  return numbers;
}

int64_t Altered(int64_t number, std::mt19937* random) {
  switch ((*random)() % 8) {
    case 0: return number + 1;
    case 1: return number - 1;
    case 2: return -number - 1;
    case 3: return number == 0 ? 7 : 2 * number;
    case 4: return number + static_cast<int64_t>((*random)() % 2000) - 1000;
    case 5: return std::numeric_limits<int64_t>::max();
    case 6: return std::numeric_limits<int64_t>::min();
    default: return static_cast<int64_t>((*random)() % 16);
  }
}

struct Attempt {
  int altered = 0, refused = 0;
};

// Changes one number of the proof at a time. `least`: the cost of the best plan; `plan` is dearer
// and its proof shows some bound. With a changed number a bound above `least` must always be
// refused.
Attempt Alter(const Graph& graph, const Plan& plan, int64_t least, int rounds) {
  REQUIRE(plan.cost.bytes() > least);
  REQUIRE(plan.lower_bound <= least);
  REQUIRE(plan.lower_bound > 0);
  REQUIRE_THAT(CheckPlan(graph, plan), IsOk());
  std::mt19937 random(11);
  Attempt tried;
  for (int i = 0; i < rounds; ++i) {
    Plan bent = plan;
    std::vector<Number> numbers = NumbersOf(&bent.proof);
    Number& number = numbers[random() % numbers.size()];
    const int64_t before = number.get(), after = Altered(before, &random);
    number.set(after);
    if (number.get() == before) continue;
    ++tried.altered;
    tried.refused += !CheckPlan(graph, bent).ok();
    bent.lower_bound = least + 1;
    CAPTURE(WordOf(plan.proof.kind), before, after);
    REQUIRE_THAT(CheckPlan(graph, bent), StatusIs(absl::StatusCode::kFailedPrecondition));
  }
  return tried;
}

Graph Network() {
  GraphBuilder builder;
  TensorId x = builder.Input({8, 6});
  TensorId y = builder.Matmul(x, builder.Parameter({6, 6}));
  TensorId z = builder.Add(builder.Matmul(builder.Add(x, y), builder.Parameter({6, 6})), y);
  return builder.Finish({builder.Add(z, x)});
}

Plan PlanOf(const Graph& graph, const std::string& search, int64_t table_cells = 1 << 20) {
  SearchOptions options;
  options.mesh = MeshOf(4);
  options.search = search;
  options.table_cells = table_cells;
  return *Search(graph, options);
}

// A plan that is not the best, with the bound and the proof of the best.
Plan Worse(const Graph& graph, const Plan& best) {
  Plan worse = PlanOf(graph, "all-row");
  worse.space = best.space;
  worse.lower_bound = worse.asked_bound = best.lower_bound;
  worse.proof = best.proof;
  return worse;
}

TEST_CASE("a proof with one number changed is refused, or its bound still holds") {
  const Graph graph = Network();
  const Plan exact = PlanOf(graph, "default"), dual = PlanOf(graph, "default", 5);
  REQUIRE(exact.proof.kind == ProofKind::kElimination);
  REQUIRE(exact.lower_bound == exact.cost.bytes());
  REQUIRE(dual.proof.kind == ProofKind::kDual);
  int refused = 0;
  for (const Plan& plan : {exact, dual}) {
    const Attempt tried = Alter(graph, Worse(graph, plan), exact.cost.bytes(), 1000);
    CHECK(tried.altered > 900);
    refused += tried.refused;
  }
  CHECK(refused > 1000);
}

// Pins that no cheap plan meets.
const std::vector<std::string>& Pins() {
  static const auto& pins = *new std::vector<std::string>{"t0=[a b, -]", "t1=[-, a]", "t2=[a, *]"};
  return pins;
}

SearchOptions PinnedOptions(int64_t table_cells) {
  SearchOptions options;
  options.mesh = MeshOf(4);
  options.table_cells = table_cells;
  options.pin_texts = Pins();
  return options;
}

Plan PinnedPlan(const Graph& graph) { return *Search(graph, PinnedOptions(1 << 20)); }
Plan PinnedDual(const Graph& graph) {
  return *Search(graph, Only(PinnedOptions(5), {"grids", "axes"}));
}

// A plan that meets the pins and moves more than `best`, since one more tensor is pinned, with the
// claim of `proved`: a bound above the optimum must not be refused for the plan's own price.
Plan Dearer(const Graph& graph, const Plan& best, const Plan& proved) {
  for (size_t t = 3; t < graph.tensors.size(); ++t) {
    for (const char* const axes : {"=[a b, -]", "=[-, b a]"}) {
      SearchOptions options = PinnedOptions(1 << 20);
      options.pin_texts.push_back(graph.tensors[t].name + axes);
      absl::StatusOr<Plan> plan = Search(graph, options);
      if (!plan.ok() || plan->cost.bytes() <= best.cost.bytes()) continue;
      plan->space = proved.space;
      plan->lower_bound = plan->asked_bound = proved.lower_bound;
      plan->proof = proved.proof;
      return *std::move(plan);
    }
  }
  return best;
}

TEST_CASE("the proof of a pinned bound with one number changed is refused, or the bound holds") {
  const Graph graph = Network();
  const Plan exact = PinnedPlan(graph), dual = PinnedDual(graph);
  REQUIRE(exact.proof.kind == ProofKind::kElimination);
  REQUIRE(exact.lower_bound == exact.cost.bytes());
  REQUIRE(dual.proof.kind == ProofKind::kDual);
  int refused = 0;
  for (const Plan& plan : {exact, dual}) {
    const Attempt tried = Alter(graph, Dearer(graph, exact, plan), exact.cost.bytes(), 500);
    CHECK(tried.altered > 400);
    refused += tried.refused;
  }
  CHECK(refused > 400);
}

TEST_CASE(
    "pins that are taken out or loosened do not keep the bound, tightened ones not the plan") {
  const Graph graph = Network();
  const int64_t free = PlanOf(graph, "default").cost.bytes();
  const Plan plan = PinnedPlan(graph);
  REQUIRE(plan.lower_bound > free);
  REQUIRE_THAT(CheckPlan(graph, plan), IsOk());
  Plan bent = plan;
  bent.space.pins.clear();
  CHECK_THAT(CheckPlan(graph, bent), StatusIs(absl::StatusCode::kFailedPrecondition,
                                              "the plan says that none costs less than"));
  for (size_t p = 0; p < plan.space.pins.size(); ++p) {
    bent = plan;
    for (Demand& demand : bent.space.pins[p].demands) demand = Demand();
    Plan without = plan;
    without.space.pins.erase(without.space.pins.begin() + p);
    CHECK(CheckPlan(graph, bent) == CheckPlan(graph, without));
    bent = plan;
    bent.space.pins[p].demands[1] = {{1}, false};
    CHECK_THAT(CheckPlan(graph, bent), StatusIs(absl::StatusCode::kFailedPrecondition));
  }
  Plan dual = PinnedDual(graph);
  REQUIRE(dual.lower_bound > free);
  dual.space.pins.clear();  // its messages are of fewer grids now
  CHECK_THAT(CheckPlan(graph, dual), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_CASE("pins that no plan can have are refused by name") {
  const Graph graph = Network();
  const Plan plan = PinnedPlan(graph);
  const auto refused = [&](const PinnedElements& pins, const std::string& words) {
    Plan bent = plan;
    bent.space.pins = pins;
    CHECK_THAT(CheckPlan(graph, bent), StatusIs(absl::StatusCode::kFailedPrecondition, words));
    CHECK_THAT(CheckProof(graph, bent), StatusIs(absl::StatusCode::kFailedPrecondition, words));
  };
  const Demands any(2);
  refused({{99, any}}, "pins element 99, which is none");
  refused({{-1, any}}, "pins element -1");
  refused({{1, any}, {1, any}}, "pins element 1, which is none or not in order");
  refused({{0, Demands(3)}}, "the pin of tensor t0 speaks of 3 dimensions or indices; it has 2");
  refused({{0, {{{7}, true}, {{}, true}}}}, "names an unknown axis");
  refused({{0, {{{0}, true}, {{0}, true}}}}, "demands two cuts over axis a");
  Plan claim = plan;
  claim.space.pins = {{0, {{{}, false}, {{}, false}}}};
  CHECK_THAT(CheckProof(graph, claim),
             StatusIs(absl::StatusCode::kFailedPrecondition, "no choice that meets its pin"));
  claim = PinnedDual(graph);
  claim.space.pins = {{0, {{{}, false}, {{}, false}}}};
  CHECK_THAT(CheckProof(graph, claim),
             StatusIs(absl::StatusCode::kFailedPrecondition, "no grid of t0 may meet its pin"));
  Plan cost = plan;
  cost.unpinned = Unpinned{10, 20};
  CHECK_THAT(CheckPlan(graph, cost),
             StatusIs(absl::StatusCode::kFailedPrecondition, "says that without pins"));
  cost = PlanOf(graph, "default");
  cost.unpinned = Unpinned{0, 0};
  CHECK_THAT(CheckPlan(graph, cost), StatusIs(absl::StatusCode::kFailedPrecondition,
                                              "what its pins cost, but it has none"));
}

// The least cost of any choices whose rows of memory keep to the limit.
int64_t LeastWithin(const PairwiseProblem& problem, int64_t limit) {
  Assignment assignment(problem.variables.size(), 0);
  int64_t least = kForbidden;
  for (size_t v = 0; v < assignment.size();) {
    const int64_t cost = CostOf(problem, assignment);
    if (cost < least && PeakOf(problem, assignment) <= limit) least = cost;
    for (v = 0; v < assignment.size(); ++v) {
      if (++assignment[v] < problem.variables[v]->size) break;
      assignment[v] = 0;
    }
  }
  return least;
}

// The proof of the bound that these engines find within a limit.
void AlterProofWithin(const std::vector<std::string>& engines, ProofKind kind) {
  GraphBuilder builder;
  const TensorId x = builder.Input({64, 16});
  const TensorId y = builder.Matmul(x, builder.Parameter({16, 32}));
  const Graph graph = builder.Finish({builder.Matmul(y, builder.Parameter({32, 128}))});
  SearchOptions options;
  options.mesh = MeshOf(2);
  options.replicate = Replicate::kAuto;
  options.memory_limit = 40500;
  ProblemOptions all;
  all.mesh = options.mesh;
  all.axes = {0};
  all.replicate = true;
  all.cluster = false;
  Problem problem = BuildProblem(graph, all);
  problem.pairwise.memory = MemoryRowsOf(graph, options.mesh, problem, options.memory_limit);
  const int64_t least = LeastWithin(problem.pairwise, options.memory_limit);
  REQUIRE(least < kForbidden);
  Plan plan = Search(graph, Only(options, engines)).value();
  REQUIRE(plan.proof.kind == kind);
  REQUIRE(!plan.proof.prices.empty());
  const Choices choices = problem.ChoicesOf(Assignment(problem.pairwise.variables.size(), 0));
  const auto middle = choices.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(choices.begin(), middle);
  plan.nodes.assign(middle, choices.end());
  plan.cost = CostOf(graph, plan);
  CHECK(plan.lower_bound <= least);
  const Attempt tried = Alter(graph, plan, least, 2000);
  CAPTURE(WordOf(kind));
  CHECK(tried.altered > 1000);
  CHECK(tried.refused > 500);
}

TEST_CASE("a bound under a limit on memory holds whichever number of its proof is changed") {
  AlterProofWithin({"prices", "local"}, ProofKind::kElimination);
  AlterProofWithin({"grids", "axes"}, ProofKind::kDual);
}

}  // namespace
}  // namespace yuba::search
