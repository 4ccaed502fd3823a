// The solvers of pairwise problems against enumeration.

#include "search/solve/solve.h"

#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <random>

#include "search/solve/bucket_tree.h"
#include "search/solve/dual.h"
#include "search/solve/few_values.h"
#include "search/solve/random.h"

namespace yuba::search {
namespace {

Cells RandomCells(size_t count, std::mt19937* random) {
  std::vector<int64_t> cells(count);
  for (int64_t& cell : cells) cell = (*random)() % 50;
  return std::make_shared<const std::vector<int64_t>>(cells);
}

// Variables of 2 to 4 values with random factors; where bipartite, only between even and odd ones.
PairwiseProblem RandomProblem(int variables, bool bipartite, std::mt19937* random) {
  PairwiseProblem problem;
  for (int v = 0; v < variables; ++v) {
    Domain domain;
    domain.size = 2 + static_cast<int>((*random)() % 3);
    domain.images.emplace_back(domain.size);
    std::iota(domain.images[0].begin(), domain.images[0].end(), 0);
    problem.variables.push_back(std::make_shared<const Domain>(domain));
  }
  for (int a = 0; a < variables; ++a) {
    int size = problem.variables[a]->size;
    if (!bipartite) problem.factors.push_back({{a}, RandomCells(size, random)});
    for (int b = 0; b < variables; ++b) {
      bool joined = (*random)() % 3 == 0 && (bipartite ? a % 2 == 0 && b % 2 == 1 : a != b);
      if (!joined) continue;
      problem.factors.push_back({{a, b}, RandomCells(size * problem.variables[b]->size, random)});
    }
  }
  return problem;
}

// Calls see(assignment) for all assignments.
template <typename See>
void ForEachAssignment(const PairwiseProblem& problem, const See& see) {
  Assignment assignment(problem.variables.size(), 0);
  for (size_t v = 0; v < assignment.size();) {
    see(assignment);
    for (v = 0; v < assignment.size(); ++v) {
      if (++assignment[v] < problem.variables[v]->size) break;
      assignment[v] = 0;
    }
  }
}

int64_t Least(const PairwiseProblem& problem) {
  int64_t least = std::numeric_limits<int64_t>::max();
  ForEachAssignment(problem, [&](const Assignment& assignment) {
    least = std::min(least, CostOf(problem, assignment));
  });
  return least;
}

TEST_CASE("elimination finds the optimum, in any order") {
  std::mt19937 random(5);
  for (int i = 0; i < 100; ++i) {
    PairwiseProblem problem = RandomProblem(7, false, &random);
    int64_t least = Least(problem);
    auto exact = SolveExactly(problem, 1 << 20);
    REQUIRE(exact.has_value());
    CHECK(exact->solution.cost == least);
    CHECK(CostOf(problem, exact->solution.assignment) == least);
    std::vector<int> order(7);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    CHECK(Eliminate(problem, order)->cost == least);
  }
}

TEST_CASE("elimination with some variables given finds the best of the others") {
  std::mt19937 random(6);
  for (int i = 0; i < 50; ++i) {
    PairwiseProblem problem = RandomProblem(6, false, &random);
    Assignment given(6, 1);
    Solution solution = *Eliminate(problem, {0, 2, 4}, given);
    CHECK(CostOf(problem, solution.assignment) == solution.cost);
    int64_t least = std::numeric_limits<int64_t>::max();
    for (given[0] = 0; given[0] < problem.variables[0]->size; ++given[0]) {
      for (given[2] = 0; given[2] < problem.variables[2]->size; ++given[2]) {
        for (given[4] = 0; given[4] < problem.variables[4]->size; ++given[4]) {
          least = std::min(least, CostOf(problem, given));
        }
      }
    }
    CHECK(solution.cost == least);
    for (int v : {1, 3, 5}) CHECK(solution.assignment[v] == 1);
  }
}

TEST_CASE("elimination refuses tables that do not fit") {
  std::mt19937 random(7);
  PairwiseProblem problem = RandomProblem(9, false, &random);
  CHECK(!SolveExactly(problem, 2).has_value());
}

// A row of `size` variables of two values, each of which also meets a variable of its own.
PairwiseProblem Comb(int size) {
  std::mt19937 random(9);
  PairwiseProblem comb;
  comb.variables.assign(2 * size, PlainDomain(2));
  const Cells between = RandomCells(4, &random), own = RandomCells(4, &random);
  for (int v = 0; v < size; ++v) {
    comb.factors.push_back({{v, size + v}, own});
    if (v > 0) comb.factors.push_back({{v - 1, v}, between});
  }
  return comb;
}

TEST_CASE("equal tables of an elimination count once, unless all of them are made") {
  const PairwiseProblem comb = Comb(100);
  // The tables of the row have two cells each, and so has the one that all other variables share.
  const int64_t cells = 55;
  CHECK(GreedyOrder(comb, cells).has_value());
  CHECK_FALSE(GreedyOrder(comb, cells, Budget::Unlimited(), true).has_value());
  CHECK(GreedyOrder(comb, 2 * cells, Budget::Unlimited(), true).has_value());
  CHECK(GreedyOrder(Comb(50), cells)->sums < GreedyOrder(comb, cells)->sums);
}

// All variables have the same three values in a cycle; costs depend on differences only.
TEST_CASE("symmetries change no result") {
  std::mt19937 random(8);
  for (int i = 0; i < 50; ++i) {
    PairwiseProblem with, without;
    auto turning = std::make_shared<Domain>(Domain{3, {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}});
    auto plain = std::make_shared<Domain>(Domain{3, {{0, 1, 2}}});
    with.variables.assign(6, turning);
    without.variables.assign(6, plain);
    for (int a = 0; a < 6; ++a) {
      for (int b = 0; b < a; ++b) {
        if (random() % 2 == 0) continue;
        std::vector<int64_t> cells(9);
        int64_t by_difference[3] = {int64_t(random() % 50), int64_t(random() % 50),
                                    int64_t(random() % 50)};
        for (int cell = 0; cell < 9; ++cell)
          cells[cell] = by_difference[(cell / 3 - cell % 3 + 3) % 3];
        Factor factor = {{a, b}, std::make_shared<const std::vector<int64_t>>(cells)};
        with.factors.push_back(factor);
        without.factors.push_back(factor);
      }
    }
    int64_t least = Least(without);
    CHECK(SolveExactly(with, 1 << 20)->solution.cost == least);
    CHECK(SolveExactly(without, 1 << 20)->solution.cost == least);
  }
}

TEST_CASE("the generator gives the published numbers of SplitMix64") {
  Random random(1234567);
  std::vector<int> last_digits;
  for (int i = 0; i < 5; ++i) last_digits.push_back(random.Below(1000));
  CHECK(last_digits == std::vector<int>{317, 973, 423, 431, 821});
}

TEST_CASE("local search never gets worse and is often right") {
  std::mt19937 random(9);
  int right = 0;
  for (int i = 0; i < 50; ++i) {
    PairwiseProblem problem = RandomProblem(8, false, &random);
    Assignment start(8, 0);
    Solution solution = SolveLocally(problem, {start});
    CHECK(solution.cost == CostOf(problem, solution.assignment));
    CHECK(solution.cost <= CostOf(problem, start));
    right += solution.cost == Least(problem);
  }
  CHECK(right > 30);
}

TEST_CASE("a problem of few values costs what the whole costs with these values") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 30; ++trial) {
    PairwiseProblem problem = RandomProblem(5, false, &random);
    problem.factors.push_back(problem.factors.back());  // two that share their cells
    const std::vector<int>& scope = problem.factors.back().scope;
    for (const bool first : {false, true}) {
      const int variable = first ? scope.front() : scope.back();
      const Cells usage = RandomCells(problem.variables[variable]->size, &random);
      problem.memory.uses.push_back({variable, first, 3, usage});
      const int factor = static_cast<int>(problem.factors.size()) - 1;
      problem.memory.buffers.push_back({factor, 1, 2, usage, first});
    }
    std::vector<std::vector<int>> values;
    for (const DomainPtr& domain : problem.variables) {
      values.push_back({static_cast<int>(random() % domain->size)});
      for (int value = domain->size; value-- > 0;) {
        if (value != values.back()[0] && random() % 2 == 0) values.back().push_back(value);
      }
    }
    const PairwiseProblem few = OfFewValues(problem, values);
    CHECK(few.factors.back().cells == few.factors[few.factors.size() - 2].cells);
    ForEachAssignment(few, [&](const Assignment& assignment) {
      Assignment whole;
      for (size_t v = 0; v < assignment.size(); ++v) whole.push_back(values[v][assignment[v]]);
      REQUIRE(CostOf(few, assignment) == CostOf(problem, whole));
      REQUIRE(PeakOf(few, assignment) == PeakOf(problem, whole));
    });
  }
}

TEST_CASE("the dual is a bound, with messages that add up to nothing") {
  std::mt19937 random(10);
  double gap = 0;
  for (int i = 0; i < 100; ++i) {
    PairwiseProblem problem = RandomProblem(8, true, &random);
    std::vector<int> order(problem.variables.size());
    std::iota(order.begin(), order.end(), 0);
    DualOptions options;
    options.sweeps = 100;
    const Dual dual = MaximiseDual(problem, order, options);
    int64_t least = Least(problem);
    CHECK(dual.bound <= least);
    CHECK(CostOf(problem, dual.assignment) >= least);
    gap += static_cast<double>(least - dual.bound) / static_cast<double>(least + 1);
    for (int v = 0; v < 8; v += 2) {
      std::vector<int64_t> sum(problem.variables[v]->size, 0);
      for (size_t f = 0; f < problem.factors.size(); ++f) {
        if (problem.factors[f].scope[0] != v) continue;
        for (size_t c = 0; c < sum.size(); ++c) sum[c] += dual.messages[f][c];
      }
      for (int64_t value : sum) CHECK(value == 0);
    }
  }
  CHECK(gap / 100 < 0.1);
}

// A ring of tensors and nodes in turns, with random costs, from which good values save something.
PairwiseProblem Ring(int size, int values, std::mt19937* random) {
  PairwiseProblem problem;
  problem.variables.assign(size, PlainDomain(values));
  for (int v = 0; v < size; v += 2) {
    for (int other : {v + 1, (v + size - 1) % size}) {
      std::vector<int64_t> cells;
      for (int i = 0; i < values * values; ++i) {
        cells.push_back(1000 + (*random)() % 1000 + 40 * std::abs(i / values - i % values));
      }
      problem.factors.push_back(
          {{v, other}, std::make_shared<const std::vector<int64_t>>(std::move(cells))});
    }
  }
  return problem;
}

TEST_CASE("a dual of many cells ends after fewer sweeps") {
  std::mt19937 random(5);
  const PairwiseProblem problem = Ring(6, 80, &random);
  std::vector<int> order(problem.variables.size());
  std::iota(order.begin(), order.end(), 0);
  DualOptions options;
  options.sweeps = 100;
  const Dual all = MaximiseDual(problem, order, options);
  options.sweeps = 2;
  const Dual two = MaximiseDual(problem, order, options);
  options.sweeps = 100;
  options.many_cells = 0;
  options.sweeps_of_many = 2;
  const Dual few = MaximiseDual(problem, order, options);
  CHECK(few.messages == two.messages);
  CHECK(few.messages != all.messages);
}

}  // namespace
}  // namespace yuba::search
