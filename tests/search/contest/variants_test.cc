// The solver on problems made from others: one that is good at a problem alone does not pass.
#include "tests/search/contest/variants.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "search/contest/iopddl.h"
#include "search/rows/memory_core.h"
#include "search/rows/memory_solve.h"
#include "search/rows/start_ranking.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

constexpr double kTenth = 0.1;     // of the room above the least peak
constexpr double kPerturb = 0.05;  // of each cost

// One thread, until it has asked so often whether to stop, which it does once for each step of the
// dual and for each 16 rounds: the same on every machine.
absl::StatusOr<MemorySolution> SolveFor(const PairwiseProblem& problem, int asked) {
  int looks = 0;
  return SolveWithMemory(problem, Budget(0, 1, [&looks, asked] { return ++looks > asked; }));
}

struct Known {
  uint64_t seed;
  std::string variant;
  int64_t best;  // of searches many times as long
};

TEST_CASE("one thread does not stay where it began") {
  const Known known =
      GENERATE(Known{1, "itself", 1110220}, Known{2, "itself", 891294}, Known{7, "itself", 1222358},
               Known{7, "permuted", 1222358}, Known{7, "perturbed", 1220745});
  PairwiseProblem problem = Layered(40, known.seed);
  if (known.variant == "permuted") problem = Permuted(problem, 1);
  if (known.variant == "perturbed") problem = Perturbed(problem, kPerturb, 1);
  INFO("seed " << known.seed << ", " << known.variant);
  const auto solution = SolveFor(problem, 12'000);
  REQUIRE_THAT(solution, IsOk());
  CHECK(static_cast<double>(solution->cost) <= 1.01 * static_cast<double>(known.best));
  CHECK(CostOf(problem, solution->assignment) == solution->cost);
  CHECK(PeakOf(problem, solution->assignment) <= problem.memory.limit);
}

TEST_CASE("the contest's problem B and its variants are solved by one thread") {
  const char* folder = std::getenv("YUBA_TEST_DATA");
  if (folder == nullptr) {
    WARN("SKIP: YUBA_TEST_DATA is not set");
    return;
  }
  const auto text = ReadGzip(std::string(folder) + "/iopddl/B.json.gz");
  REQUIRE_THAT(text, IsOk());
  const auto problem = ParseIopddl(*text);
  REQUIRE_THAT(problem, IsOk());
  // The optimum is within a limit that is a tenth tighter too.
  const auto [variant, best] =
      GENERATE_COPY(std::pair(*problem, 532843), std::pair(Tighter(*problem, kTenth), 532843),
                    std::pair(Permuted(*problem, 1), 532843),
                    std::pair(Perturbed(*problem, kPerturb, 1), 533092));
  const auto solution = SolveFor(variant, 10'000);
  REQUIRE_THAT(solution, IsOk());
  CHECK(static_cast<double>(solution->cost) <= 1.01 * best);
}

TEST_CASE("variants are what they say") {
  const PairwiseProblem problem = Layered(4, 1);
  const PairwiseProblem tighter = Tighter(problem, kTenth);
  CHECK(tighter.memory.limit < problem.memory.limit);
  CHECK(MakeCore(tighter)->least_peak <= tighter.memory.limit);
  CHECK(Tighter(problem, 1).memory.limit == MakeCore(problem)->least_peak);
  const Assignment zero(problem.variables.size(), 0);
  const PairwiseProblem permuted = Permuted(problem, 1);
  CHECK(CostOf(permuted, zero) == CostOf(problem, zero));
  CHECK(PeakOf(permuted, zero) == PeakOf(problem, zero));
  CHECK(permuted.factors[0].scope != problem.factors[0].scope);
  const PairwiseProblem perturbed = Perturbed(problem, kPerturb, 1);
  bool changed = false;
  for (size_t f = 0; f < problem.factors.size(); ++f) {
    for (size_t cell = 0; cell < problem.factors[f].cells->size(); ++cell) {
      const int64_t before = (*problem.factors[f].cells)[cell];
      const int64_t after = (*perturbed.factors[f].cells)[cell];
      CHECK((after >= kForbidden) == (before >= kForbidden));
      if (before >= kForbidden) continue;
      CHECK(std::abs(after - before) <= kPerturb * static_cast<double>(before));
      changed = changed || after != before;
    }
  }
  CHECK(changed);
  for (const Factor& factor : Allowed(problem).factors) {
    for (const int64_t cell : *factor.cells) CHECK(cell < kForbidden);
  }
}

TEST_CASE("searches go on that are better than half of those before them") {
  StartRanking ranking;
  CHECK_FALSE(ranking.GoesOn(0, 10));  // the first: nothing to be better than
  CHECK(ranking.GoesOn(0, 9));
  CHECK_FALSE(ranking.GoesOn(1, 9));
  CHECK_FALSE(ranking.GoesOn(0, 11));
  CHECK_FALSE(ranking.GoesOn(0, 10));  // of 9, 10 and 11
  CHECK_FALSE(ranking.GoesOn(0, 12));
  CHECK(ranking.GoesOn(0, 8));
  CHECK(ranking.GoesOn(1, 8));
  CHECK_FALSE(ranking.GoesOn(2, 8));
  StartRanking alike;
  for (int i = 0; i < 5; ++i) CHECK_FALSE(alike.GoesOn(0, 7));
}

}  // namespace
}  // namespace yuba::search
