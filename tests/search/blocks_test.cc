// Bounds by blocks against plain elimination, where both can be done, and their proofs.

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "search/blocks.h"
#include "search/check.h"
#include "search/dual.h"
#include "search/search.h"
#include "search/solve.h"
#include "search/split.h"
#include "tests/support/graphs.h"

namespace yuba {
namespace {

// `count` variables on each of two sides. Values are one of two classes and one of three labels;
// the labels of all variables turn together.
PairwiseProblem TwoSides(int count, std::mt19937* random) {
  constexpr int kLabels = 3, kSize = 2 * kLabels;
  Domain domain;
  domain.size = kSize;
  for (int turn = 0; turn < kLabels; ++turn) {
    domain.images.emplace_back();
    for (int value = 0; value < kSize; ++value) {
      domain.images.back().push_back(value / kLabels * kLabels + (value + turn) % kLabels);
    }
  }
  PairwiseProblem problem;
  problem.variables.assign(2 * count, std::make_shared<const Domain>(domain));
  for (int a = 0; a < count; ++a) {
    for (int b = count; b < 2 * count; ++b) {
      std::vector<int64_t> apart(4 * kLabels), cells;
      for (int64_t& cost : apart) cost = 1000 + (*random)() % 500;
      for (int x = 0; x < kSize; ++x) {
        for (int y = 0; y < kSize; ++y) {
          const int turn = (x % kLabels - y % kLabels + kLabels) % kLabels;
          cells.push_back(apart[(x / kLabels * 2 + y / kLabels) * kLabels + turn]);
        }
      }
      problem.factors.push_back({{a, b}, std::make_shared<const std::vector<int64_t>>(cells)});
    }
  }
  return problem;
}

std::vector<std::vector<int>> AllValues(const PairwiseProblem& problem) {
  std::vector<std::vector<int>> listed;
  for (const DomainPtr& domain : problem.variables) {
    listed.emplace_back(domain->size);
    std::iota(listed.back().begin(), listed.back().end(), 0);
  }
  return listed;
}

int64_t PairwiseBound(const PairwiseProblem& problem) {
  Classes each;
  each.count = problem.variables[0]->size;
  each.of.resize(each.count);
  std::iota(each.of.begin(), each.of.end(), 0);
  std::vector<int> order(problem.variables.size());
  std::iota(order.begin(), order.end(), 0);
  const auto classes = std::make_shared<const Classes>(each);
  return MaximiseDual(problem, std::vector<ClassesPtr>(order.size(), classes), order, 100).bound;
}

TEST_CASE("a split problem has every factor once and keeps to its sums") {
  std::mt19937 random(1);
  const PairwiseProblem problem = TwoSides(4, &random);
  for (const int64_t sums : {1, 36, 216, 5000, 1 << 20}) {
    const Splitting split = SplitToFit(problem, sums);
    REQUIRE(split.scopes.size() == problem.factors.size());
    PairwiseProblem copies;
    for (int v : split.variable) copies.variables.push_back(problem.variables[v]);
    for (size_t f = 0; f < split.scopes.size(); ++f) {
      for (size_t i : {0, 1}) {
        CHECK(split.variable[split.scopes[f][i]] == problem.factors[f].scope[i]);
      }
      copies.factors.push_back({split.scopes[f], problem.factors[f].cells});
    }
    std::vector<int> order = split.order;
    std::sort(order.begin(), order.end());
    std::vector<int> all(split.variable.size());
    std::iota(all.begin(), all.end(), 0);
    CHECK(order == all);
    const int64_t most = std::max<int64_t>(sums, 36);
    CHECK(split.sums <= most * static_cast<int64_t>(all.size()));
    CHECK((split.variable.size() > 8) == (sums <= 5000));
    // Nobody pays, so nothing is dearer than in the problem.
    CHECK(Eliminate(copies, split.order)->cost <= SolveExactly(problem, 1 << 20)->solution.cost);
  }
}

TEST_CASE("bounds by blocks hold, are no worse than the pairwise dual's, and often the optimum") {
  std::mt19937 random(2);
  int proven = 0, split = 0;
  for (int round = 0; round < 40; ++round) {
    const PairwiseProblem problem = TwoSides(3 + round % 2, &random);
    const int64_t optimum = SolveExactly(problem, 1 << 20)->solution.cost;
    const Assignment any(problem.variables.size(), 0);
    BlockOptions options;
    options.sums = 36;
    options.growth = 2;
    const Solution start = {any, CostOf(problem, any)};
    const Blocks found = BoundByBlocks(problem, AllValues(problem), start, options);
    REQUIRE(found.bound <= optimum);
    REQUIRE(found.solution.cost >= optimum);
    REQUIRE(found.solution.cost == CostOf(problem, found.solution.assignment));
    REQUIRE(found.anchor >= 0);
    REQUIRE(found.bound >= PairwiseBound(problem));
    proven += found.bound == found.solution.cost;
    split += !found.rounds.empty() && !found.rounds[0].copies.empty();
  }
  CHECK(split == 40);
  CHECK(proven > 30);
}

SearchOptions OnDevices(int devices, int64_t table_cells) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.table_cells = table_cells;
  return options;
}

TEST_CASE("a recurrent graph too wide for elimination has a plan of gap 0, proved by blocks") {
  const Graph graph = Recurrent(8, 12, 1, 4);
  const Plan exact = *Search(graph, OnDevices(6, int64_t{1} << 26));
  const Plan plan = *Search(graph, OnDevices(6, 2000));
  REQUIRE(exact.proof.kind == "elimination");
  REQUIRE(plan.proof.kind == "blocks");
  CHECK(!plan.proof.rounds[0].copies.empty());
  CHECK(plan.lower_bound == exact.cost.bytes());
  CHECK(plan.cost.bytes() == exact.cost.bytes());
  CHECK(CheckPlan(graph, plan).ToString() == "OK");
  Plan better = plan;
  ++better.lower_bound;
  CHECK(!CheckPlan(graph, better).ok());
}

}  // namespace
}  // namespace yuba
