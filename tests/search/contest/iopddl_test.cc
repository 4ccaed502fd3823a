// IOPDDL problems: the contest's example, random problems against enumeration, and bad files.
#include "search/contest/iopddl.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "search/rows/memory_core.h"
#include "search/rows/memory_solve.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

constexpr char kExample[] = R"({"problem": {"name": "example",
  "nodes": {"intervals": [[30, 70], [40, 70], [50, 120], [110, 140], [110, 150]],
            "costs": [[15], [55, 65], [25, 45, 35], [85, 75], [95]],
            "usages": [[10], [25, 25], [15, 20, 15], [10, 10], [15]]},
  "edges": {"nodes": [[0, 1], [0, 2], [1, 3], [2, 4], [3, 4]],
            "costs": [[30, 40], [50, 10, 40], [90, 10, 20, 80], [60, 20, 30], [70, 60]]},
  "usage_limit": 50}})";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// Ends as soon as the optimum is proved; the time limit matters on slow or busy machines alone.
absl::StatusOr<MemorySolution> SolveToTheEnd(const PairwiseProblem& problem) {
  return SolveWithMemory(problem, Budget(20, 1));
}

TEST_CASE("the contest's example has the optimum that the contest says") {
  const auto problem = ParseIopddl(kExample);
  REQUIRE_THAT(problem, IsOk());
  const auto solution = SolveToTheEnd(*problem);
  REQUIRE_THAT(solution, IsOk());
  CHECK(solution->cost == 445);
  CHECK(solution->assignment == Assignment{0, 0, 2, 1, 0});
  CHECK(solution->bound <= 445);
}

TEST_CASE("without a limit the example is cheaper") {
  const auto problem = ParseIopddl(Replaced(kExample, ",\n  \"usage_limit\": 50", ""));
  REQUIRE_THAT(problem, IsOk());
  const auto solution = SolveToTheEnd(*problem);
  REQUIRE_THAT(solution, IsOk());
  CHECK(solution->cost == 415);
  CHECK(CostOf(*problem, {0, 1, 2, 0, 0}) == 495);
  CHECK(PeakOf(*problem, {0, 0, 1, 1, 0}) > 50);
}

struct Sample {
  PairwiseProblem problem;
  int64_t best = kForbidden;  // by enumeration
};

// 2 to 7 nodes of 1 to 4 values; on some edges each value of the one node allows a single value of
// the other.
Sample RandomSample(std::mt19937& random, bool with_limit) {
  auto below = [&](int n) { return static_cast<int>(random() % n); };
  auto cells = [&](std::vector<int64_t> list) {
    return std::make_shared<const std::vector<int64_t>>(std::move(list));
  };
  Sample sample;
  const int count = 2 + below(6);
  int64_t all = 0;
  for (int v = 0; v < count; ++v) {
    Domain domain;
    domain.size = 1 + below(4);
    std::vector<int64_t> cost, usage;
    for (int x = 0; x < domain.size; ++x) {
      cost.push_back(below(12) == 0 ? kForbidden : below(20));
      usage.push_back(below(3) == 0 ? 0 : below(10));
    }
    all += *std::max_element(usage.begin(), usage.end());
    sample.problem.variables.push_back(std::make_shared<const Domain>(domain));
    sample.problem.factors.push_back({{v}, cells(cost)});
    const int begin = below(6);
    sample.problem.memory.uses.push_back({v, begin, begin + below(5), cells(usage)});
  }
  for (int e = below(2 * count); e > 0; --e) {
    const int a = below(count), b = below(count);
    if (a == b) continue;
    const int rows = sample.problem.variables[a]->size, columns = sample.problem.variables[b]->size;
    std::vector<int64_t> cost;
    const bool follows = below(3) == 0;
    for (int i = 0; i < rows * columns; ++i) {
      const bool forbidden = follows ? i % columns != (i / columns) % columns : below(5) == 0;
      cost.push_back(forbidden ? kForbidden : below(30));
    }
    sample.problem.factors.push_back({{a, b}, cells(cost)});
  }
  if (with_limit) sample.problem.memory.limit = 1 + below(static_cast<int>(all) + 1);
  Assignment assignment(count, 0);
  for (int at = 0; at >= 0;) {
    if (PeakOf(sample.problem, assignment) <= sample.problem.memory.limit) {
      sample.best = std::min(sample.best, CostOf(sample.problem, assignment));
    }
    for (at = count - 1; at >= 0; --at) {
      if (++assignment[at] < sample.problem.variables[at]->size) break;
      assignment[at] = 0;
    }
  }
  return sample;
}

TEST_CASE("random problems: the optimum is found, and the bound is never above it") {
  std::mt19937 random(1);
  int solved = 0, impossible = 0;
  for (int i = 0; i < 300; ++i) {
    const Sample sample = RandomSample(random, i % 3 != 0);
    INFO("problem " << i);
    const auto solution = SolveWithMemory(sample.problem, Budget(0.02, 1));
    if (sample.best == kForbidden) {
      // Before the search, or, where the machine is slow, in its course.
      CHECK_THAT(solution, StatusIs(absl::StatusCode::kFailedPrecondition));
      ++impossible;
      continue;
    }
    const absl::optional<MemoryCore> core = MakeCore(sample.problem);
    REQUIRE(core.has_value());
    REQUIRE(core->least_peak <= sample.problem.memory.limit);
    if (!solution.ok()) continue;  // the machine was too busy
    CHECK(solution->bound <= sample.best);
    CHECK(solution->cost >= sample.best);
    CHECK(CostOf(sample.problem, solution->assignment) == solution->cost);
    CHECK(PeakOf(sample.problem, solution->assignment) <= sample.problem.memory.limit);
    solved += solution->cost == sample.best;
  }
  CHECK(impossible > 20);
  CHECK(solved > 0);  // how many depends on the time that the machine gave
}

TEST_CASE("the core has the problem's costs and peaks") {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    const Sample sample = RandomSample(random, true);
    const absl::optional<MemoryCore> core = MakeCore(sample.problem);
    if (!core.has_value()) {
      CHECK(sample.best == kForbidden);
      continue;
    }
    // The cheapest assignment of the core within the rows is the cheapest of the problem.
    int64_t best = kForbidden;
    Assignment assignment(core->size(), 0);
    bool more = core->least_peak <= sample.problem.memory.limit;
    while (more) {
      const Assignment all = core->Expand(assignment);
      if (PeakOf(sample.problem, all) <= sample.problem.memory.limit) {
        best = std::min(best, CostOf(sample.problem, all));
      }
      more = false;
      for (int v = core->size(); v-- > 0 && !more;) {
        more = ++assignment[v] < core->values(v);
        if (!more) assignment[v] = 0;
      }
    }
    CHECK(best == sample.best);
  }
}

struct BadFile {
  std::string from, to, message;
};

TEST_CASE("bad files are refused with the place") {
  const BadFile bad = GENERATE(
      BadFile{"{\"problem\"", "{\"problems\"", "there is no problem"},
      BadFile{"[15], [55", "[], [55",
              "problem.nodes.costs[0] is an array, expected the cost of at least"},
      BadFile{"[15], [55", "[-15], [55",
              "problem.nodes.costs[0][0] is -15, expected an integer from 0"},
      BadFile{"[15], [55", "[1.5], [55", "problem.nodes.costs[0][0] is 1.5, expected an integer"},
      BadFile{"[15], [55", "15, [55",
              "problem.nodes.costs[0] is 15, expected an array of integers"},
      BadFile{"[25, 25]", "[25]", "problem.nodes.usages[1] is an array, expected as many usages"},
      BadFile{"[30, 70], ", "",
              "problem.nodes.intervals is an array, expected one for each of the 5"},
      BadFile{"[30, 70]", "[30]",
              "problem.nodes.intervals[0] is an array, expected a begin and an end"},
      BadFile{"[0, 1], ", "", "problem.edges.costs is an array, expected one list"},
      BadFile{"[0, 1]", "[0, 5]",
              "problem.edges.nodes[0][1] is 5, expected an integer from 0 to 4"},
      BadFile{"[0, 1]", "[0, 1, 2]",
              "problem.edges.nodes[0] is an array, expected one node or two"},
      BadFile{"[30, 40]", "[30]", "problem.edges.costs[0] is an array, expected one cost for each"},
      BadFile{"50}}", "\"50\"}}", "problem.usage_limit is \"50\", expected an integer"},
      BadFile{"[15]", "[999999999999999999]", "expected a problem whose finite costs add up"},
      BadFile{"50}}", "50", "this is no JSON: parse error"});
  const auto problem = ParseIopddl(Replaced(kExample, bad.from, bad.to));
  CHECK_THAT(problem, StatusIs(absl::StatusCode::kInvalidArgument, bad.message));
}

TEST_CASE("a text is read neither deeper nor longer than it may") {
  const auto deep = ParseIopddl(std::string(1 << 20, '['));
  CHECK_THAT(deep, Fails("more than 100 levels"));
  const std::string quoted = "[\"" + std::string(200, '[') + "\\\"" + std::string(200, '{') + "\"]";
  CHECK_THAT(ParseIopddl(quoted), Fails("expected an object"));
  std::string wide = "[0";
  for (int i = 0; i < 100000; ++i) wide += ",0";
  wide += "]";
  int asked = 0;
  const auto stopped = ParseIopddl(wide, [&asked] { return ++asked == 2; });
  CHECK(absl::IsCancelled(stopped.status()));
  CHECK(asked == 2);
}

TEST_CASE("who asks for the end gets the best by then, or hears that there is nothing") {
  const auto problem = ParseIopddl(kExample);
  REQUIRE_THAT(problem, IsOk());
  const Budget at_once(0, 2, [] { return true; });
  const auto hasty = SolveWithMemory(*problem, at_once);
  if (hasty.ok()) {
    CHECK(hasty->bound <= 445);
    CHECK(hasty->cost >= 445);
  } else {
    CHECK_THAT(hasty, StatusIs(absl::StatusCode::kCancelled));
  }
  int looks = 0;
  const Budget later(0, 1, [&] { return ++looks > 10'000; });
  const auto some = SolveWithMemory(*problem, later);
  REQUIRE_THAT(some, IsOk());
  CHECK(some->bound <= 445);
  CHECK(some->cost >= 445);
}

TEST_CASE("problems without a solution say so") {
  const auto tight = ParseIopddl(Replaced(kExample, "50}}", "49}}"));
  REQUIRE_THAT(tight, IsOk());
  CHECK_THAT(SolveToTheEnd(*tight), Fails("the smallest usages add up to 50, the limit is 49"));
  const auto forbidden = ParseIopddl(Replaced(kExample, "[15]", "[1000000000000000000]"));
  REQUIRE_THAT(forbidden, IsOk());
  CHECK_THAT(SolveToTheEnd(*forbidden), Fails("every choice has a forbidden cost"));
}

// Every assignment within the limit has forbidden costs, and large finite costs besides.
constexpr char kNothingAllowed[] = R"(
  {"problem": {"name": "t", "nodes": {"intervals": [[2, 2], [4, 5], [4, 6], [2, 4], [5, 7], [4,
  6]], "costs": [[5, 5, 0, 0], [5, 5, 64, 5], [0], [15], [86, 5, 33], [5, 1000000000000000000,
  93, 0]], "usages": [[27, 15, 50, 23], [4, 1, 47, 33], [47], [36], [22, 37, 2], [14, 24, 9,
  43]]}, "edges": {"nodes": [[5, 0], [4, 2], [4, 0], [4, 1], [3, 0], [0, 4], [4, 1]], "costs":
  [[0, 0, 1000000000000000000, 1000000000000000000, 0, 69, 0, 1000000000000000000, 0, 0, 0, 0,
  0, 0, 0, 1000000000000000000], [750683067861265, 31, 8], [0, 0, 29, 1000000000000000000,
  1000000000000000000, 0, 0, 433016484147989, 1000000000000000000, 0, 0, 1000000000000000000],
  [1000000000000000000, 0, 1000000000000000000, 1000000000000000000, 72, 0, 1000000000000000000,
  0, 1000000000000000000, 757918873797884, 0, 83], [21, 0, 0, 0], [503376774590695, 0, 32, 0,
  74, 0, 0, 0, 0, 0, 37, 1000000000000000000], [0, 80723987691759, 1000000000000000000, 20,
  606875829837141, 381796955259032, 1000000000000000000, 0, 140773311180196,
  1000000000000000000, 30487234736653, 87]]}, "usage_limit": 75}})";

TEST_CASE("sums of forbidden and large costs are not taken for less") {
  const auto problem = ParseIopddl(kNothingAllowed);
  REQUIRE_THAT(problem, IsOk());
  CHECK_THAT(SolveWithMemory(*problem, Budget(0.3, 1)),
             Fails("nothing within the limit was found"));
}

}  // namespace
}  // namespace yuba::search
