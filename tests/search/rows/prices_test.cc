// Problems with a limit on memory: solver and bounds against all assignments, and bounds of random
// prices.
#include "search/rows/prices.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "search/rows/memory_core.h"
#include "search/rows/memory_dual.h"
#include "search/rows/memory_state.h"
#include "search/solve/solve.h"

namespace yuba::search {
namespace {

constexpr int kValues = 4;

Cells RandomCells(size_t count, int most, std::mt19937* random) {
  std::vector<int64_t> cells;
  for (size_t i = 0; i < count; ++i) cells.push_back((*random)() % most);
  return std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

PairwiseProblem RandomProblem(int variables, std::mt19937* random) {
  PairwiseProblem problem;
  problem.variables.assign(variables, PlainDomain(kValues));
  for (int a = 0; a < variables; ++a) {
    for (int b = 0; b < a; ++b) {
      if ((*random)() % 2 == 0) continue;
      problem.factors.push_back({{a, b}, RandomCells(kValues * kValues, 100, random)});
    }
    const int64_t begin = (*random)() % 6;
    problem.memory.uses.push_back({a, begin, begin + 1 + static_cast<int64_t>((*random)() % 5),
                                   RandomCells(kValues, 50, random)});
  }
  return problem;
}

// Adds buffers to half of the factors of two variables; these then cost nothing in some cells.
void AddBuffers(PairwiseProblem* problem, std::mt19937* random) {
  for (size_t f = 0; f < problem->factors.size(); ++f) {
    Factor& factor = problem->factors[f];
    if (factor.scope.size() != 2 || (*random)() % 2 == 0) continue;
    std::vector<int64_t> cells = *factor.cells;
    for (int64_t& cell : cells) cell = (*random)() % 3 == 0 ? 0 : cell;
    factor.cells = std::make_shared<const std::vector<int64_t>>(std::move(cells));
    MemoryBuffer buffer;
    buffer.factor = static_cast<int>(f);
    buffer.begin = (*random)() % 6;
    buffer.end = buffer.begin + 1 + static_cast<int64_t>((*random)() % 5);
    buffer.usage = RandomCells(kValues, 50, random);
    buffer.first = (*random)() % 2 == 0;
    problem->memory.buffers.push_back(buffer);
  }
}

// Two variables whose costs are a sum of tables by classes, some of which are forbidden.
PairwiseProblem RandomSum(std::mt19937* random) {
  constexpr int kMany = 60;
  const auto upto = [&](int most) { return 1 + static_cast<int>((*random)() % most); };
  SumOfTables sum;
  std::vector<int64_t> cells;
  for (ClassTable& table : sum) {
    const int rows = upto(5);
    table.columns = upto(5);
    table.begin = static_cast<int64_t>(cells.size());
    for (int value = 0; value < kMany; ++value) {
      table.row_of.push_back(static_cast<int>((*random)() % rows));
      table.column_of.push_back(static_cast<int>((*random)() % table.columns));
    }
    for (int64_t cell = 0; cell < rows * table.columns; ++cell)
      cells.push_back((*random)() % 2 == 0 ? kForbidden : (*random)() % 1000);
  }
  PairwiseProblem problem;
  problem.variables.assign(2, PlainDomain(kMany));
  problem.factors = {{{0, 1},
                      std::make_shared<const std::vector<int64_t>>(std::move(cells)),
                      std::make_shared<const SumOfTables>(std::move(sum))}};
  for (const int variable : {0, 1})
    problem.memory.uses.push_back({variable, 0, 1, RandomCells(kMany, 50, random)});
  return problem;
}

TEST_CASE("the least usage of a problem with sums of tables is that of the whole tables") {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const PairwiseProblem problem = RandomSum(&random);
    CHECK(LeastUsage(problem) == LeastUsage(Whole(problem)));
  }
}

std::vector<ClassesPtr> OneEach(const PairwiseProblem& problem) {
  Classes classes;
  classes.count = kValues;
  for (int value = 0; value < kValues; ++value) classes.of.push_back(value);
  return std::vector<ClassesPtr>(problem.variables.size(),
                                 std::make_shared<const Classes>(classes));
}

// By peak: the least cost of assignments with just that peak.
std::map<int64_t, int64_t> CostByPeak(const PairwiseProblem& problem) {
  std::map<int64_t, int64_t> costs;
  Assignment assignment(problem.variables.size(), 0);
  while (true) {
    const int64_t peak = PeakOf(problem, assignment), cost = CostOf(problem, assignment);
    const auto [place, is_new] = costs.emplace(peak, cost);
    if (!is_new) place->second = std::min(place->second, cost);
    size_t v = 0;
    while (v < assignment.size() && ++assignment[v] == kValues) assignment[v++] = 0;
    if (v == assignment.size()) break;
  }
  return costs;
}

// The problem at every `step`-th of the limits, with the least cost within it.
void AtLimits(PairwiseProblem problem, const std::map<int64_t, int64_t>& costs, int step,
              const std::function<void(const PairwiseProblem&, int64_t)>& look) {
  int64_t optimum = kForbidden;
  int place = 0;
  for (const auto& [peak, cost] : costs) {
    optimum = std::min(optimum, cost);
    if (place++ % step != 0) continue;
    problem.memory.limit = peak;
    look(problem, optimum);
  }
}

TEST_CASE("bound, optimum and solution at every limit") {
  std::mt19937 random(11);
  int solved = 0, optimal = 0, tight = 0;
  for (int round = 0; round < 16; ++round) {
    PairwiseProblem problem = RandomProblem(6, &random);
    if (round % 2 == 1) AddBuffers(&problem, &random);
    const std::map<int64_t, int64_t> costs = CostByPeak(problem);
    AtLimits(problem, costs, 5, [&](const PairwiseProblem& limited, int64_t optimum) {
      const int64_t limit = limited.memory.limit;
      const LimitSolver solver(limited, OneEach(limited), 1 << 20);
      const absl::optional<Assignment> found = solver.Solve(limit);
      REQUIRE(found.has_value());  // some assignment is within the limit
      CHECK(PeakOf(limited, *found) <= limit);
      CHECK(solver.bound() <= optimum);
      ++solved;
      optimal += CostOf(limited, *found) == optimum;
      tight += solver.bound() == optimum;
    });
    problem.memory.limit = costs.begin()->first - 1;
    const LimitSolver solver(problem, OneEach(problem), 1 << 20);
    CHECK(!solver.Solve(problem.memory.limit).has_value());
    CHECK(UnmovedPeakOf(problem, LeastUsage(problem)) <= costs.begin()->first);
    if (round % 2 == 0) CHECK(PeakOf(problem, LeastUsage(problem)) == costs.begin()->first);
  }
  INFO(solved << " solved, " << optimal << " optimal, " << tight << " with a tight bound");
  CHECK(solved > 100);
  CHECK(optimal == solved);
  CHECK(tight > 0);
}

// Adds a variable behind each of the first three, with a value that follows from theirs.
void AddFollowers(PairwiseProblem* problem, std::mt19937* random) {
  for (int leader = 0; leader < 3; ++leader) {
    std::vector<int64_t> cells(kValues * kValues, kForbidden);
    for (int value = 0; value < kValues; ++value) cells[value * kValues + value / 2] = 0;
    const int follower = static_cast<int>(problem->variables.size());
    problem->variables.push_back(PlainDomain(kValues));
    problem->factors.push_back(
        {{leader, follower}, std::make_shared<const std::vector<int64_t>>(std::move(cells))});
    problem->factors.push_back({{follower}, RandomCells(kValues, 100, random)});
    problem->memory.uses.push_back({follower, 0, 6, RandomCells(kValues, 50, random)});
  }
}

TEST_CASE("a core's rows are exceeded where the problem's are") {
  std::mt19937 random(17);
  int within = 0, above = 0;
  for (int round = 0; round < 20; ++round) {
    PairwiseProblem problem = RandomProblem(4, &random);
    AddFollowers(&problem, &random);
    AddBuffers(&problem, &random);
    for (const int64_t limit : {120, 180, 240}) {
      problem.memory.limit = limit;
      const absl::optional<MemoryCore> core = MakeCore(problem, Leaves::kAll);
      REQUIRE(core.has_value());
      MemoryState state(*core);
      CHECK(state.cost() == core->constant);
      CHECK(state.loads() == std::vector<int64_t>(core->room.size(), 0));
      state.Start(Assignment(core->size(), 0));
      for (int step = 0; step < 300; ++step) {
        const int absent = static_cast<int>(random() % core->size());
        const int before = state.assignment()[absent];
        state.Move(absent, MemoryState::kAbsent);
        const int v = static_cast<int>(random() % core->size());
        state.Move(v, static_cast<int>(random() % core->values(v)));
        if (v != absent) state.Move(absent, before);
        const Assignment assignment = core->Expand(state.assignment());
        REQUIRE(state.cost() == CostOf(problem, assignment));
        MemoryState fresh(*core);
        fresh.Start(state.assignment());
        REQUIRE(state.loads() == fresh.loads());
        const bool fits = PeakOf(problem, assignment) <= limit;
        REQUIRE((fits == (state.overload() == 0) || core->least_peak > limit));
        (fits ? within : above)++;
      }
    }
  }
  CHECK(within > 1000);
  CHECK(above > 1000);
}

TEST_CASE("a core has every assignment that is possible") {
  std::mt19937 random(13);
  for (int round = 0; round < 20; ++round) {
    PairwiseProblem problem = RandomProblem(4, &random);
    AddFollowers(&problem, &random);
    const absl::optional<MemoryCore> core = MakeCore(problem);
    REQUIRE(core.has_value());
    REQUIRE(core->size() == 4);
    for (int code = 0; code < kValues * kValues * kValues * kValues; ++code) {
      Assignment assignment;
      for (int v = 0, rest = code; v < 4; ++v, rest /= kValues) {
        assignment.push_back(rest % kValues);
      }
      for (int v = 0; v < 3; ++v) assignment.push_back(assignment[v] / 2);
      CHECK(core->Expand(core->Reduce(assignment)) == assignment);
    }
  }
}

TEST_CASE("prices of many equal edges take one table") {
  std::mt19937 random(7);
  PairwiseProblem problem = RandomProblem(40, &random);
  problem.factors.clear();
  const Cells cells = RandomCells(kValues * kValues, 100, &random);
  for (int a = 0; a < 40; ++a) {
    for (int b = a + 1; b < std::min(40, a + 4); ++b) problem.factors.push_back({{a, b}, cells});
  }
  problem.memory.limit = 600;
  const absl::optional<MemoryCore> core = MakeCore(problem);
  REQUIRE(core.has_value());
  REQUIRE(core->edges.size() == problem.factors.size());
  for (const CoreEdge& edge : core->edges) CHECK(edge.cells == cells);
  CHECK(!GoodPrices(problem, {}, Budget::Unlimited()).empty());
}

TEST_CASE("values that no row tells apart are asked about too, not only the cheapest") {
  std::mt19937 random(3);
  PairwiseProblem problem = RandomProblem(3, &random);
  const int leaf = 3;
  problem.variables.push_back(PlainDomain(kValues));
  std::vector<int64_t> cells;
  for (int cell = 0; cell < kValues * kValues; ++cell) cells.push_back(cell % kValues * 10);
  problem.factors.push_back(
      {{0, leaf}, std::make_shared<const std::vector<int64_t>>(std::move(cells))});
  problem.memory.limit = PeakOf(problem, LeastUsage(problem)) + 30;
  const LimitSolver solver(problem, OneEach(problem), 1 << 20);
  std::vector<int64_t> costs;
  for (int value = 0; value < kValues; ++value) {
    const Assignment found =
        solver.Improve(LeastUsage(problem), kForbidden,
                       [&](const Assignment& asked) { return asked[leaf] == value; });
    CHECK(found[leaf] == value);
    costs.push_back(CostOf(problem, found));
  }
  CHECK(costs == std::vector<int64_t>{costs[0], costs[0] + 10, costs[0] + 20, costs[0] + 30});
}

TEST_CASE("a plan that is known leads to prices, where the one of least usage costs far more") {
  // For each variable: much usage at no cost, little at 100, hardly less at a million.
  PairwiseProblem problem;
  const auto costs =
      std::make_shared<const std::vector<int64_t>>(std::vector<int64_t>{0, 100, 1'000'000});
  const auto usage = std::make_shared<const std::vector<int64_t>>(std::vector<int64_t>{100, 10, 9});
  constexpr int kVariables = 100;
  for (int v = 0; v < kVariables; ++v) {
    problem.variables.push_back(PlainDomain(3));
    problem.factors.push_back({{v}, costs});
    problem.memory.uses.push_back({v, 0, 6, usage});
  }
  problem.memory.limit = 45 * 100 + 55 * 10;
  PriceSearch search;
  search.steps = 300;
  search.known = kVariables * 100;
  int64_t bound = 0;
  GoodPrices(problem, search, Budget::Unlimited(), &bound);
  CHECK(bound <= 5500);
  CHECK(bound > 5000);
}

TEST_CASE("any prices give a bound") {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    const int64_t units = round % 2 == 0 ? 4096 : 64;
    PairwiseProblem problem = RandomProblem(5, &random);
    if (round % 5 == 0) {  // a cost that cannot be counted in units
      problem.factors.push_back({{0},
                                 std::make_shared<const std::vector<int64_t>>(
                                     std::vector<int64_t>{int64_t{1} << 55, 0, 7, 9})});
    }
    const std::map<int64_t, int64_t> costs = CostByPeak(problem);
    std::vector<MemoryPrice> prices;
    for (int64_t time = 0; time < 10; ++time) {
      if (random() % 3 == 0) prices.push_back({time, static_cast<int64_t>(random() % (4 * units))});
      // Prices so steep that all must use their least.
      if (round % 4 == 0 && random() % 5 == 0) prices.push_back({time, int64_t{1} << 43});
    }
    // Now and then `most` is below most costs, which makes the bound less.
    problem.memory.scale = {units, round % 3 == 0 ? 20 * units : kForbidden / 100};
    const auto exact = SolveExactly(AtPrices(problem, prices), 1 << 20);
    REQUIRE(exact.has_value());
    int64_t optimum = kForbidden;
    for (const auto& [limit, cost] : costs) {
      optimum = std::min(optimum, cost);
      problem.memory.limit = limit;
      const int64_t bound = exact->solution.cost - RoomAtPrices(problem.memory, prices).value();
      if (optimum < kForbidden / units) CHECK(bound <= optimum * units);
    }
  }
}

}  // namespace
}  // namespace yuba::search
