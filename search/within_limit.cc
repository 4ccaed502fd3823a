#include "search/within_limit.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "search/grids.h"
#include "search/memory_plan.h"
#include "search/memory_rows.h"

namespace yuba {
namespace {

constexpr size_t kNamed = 3;  // of what fills the memory
constexpr int kRounds = 8;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 4;

std::vector<ClassesPtr> ClassesOf(const Problem& problem, const Mesh& mesh) {
  std::vector<ClassesPtr> classes;
  std::map<const void*, ClassesPtr> known;
  for (int element : problem.elements) {
    ClassesPtr& grids = known[problem.cuts[element].get()];
    if (grids == nullptr) {
      grids = std::make_shared<const Classes>(GridsOf(*problem.cuts[element], mesh));
    }
    classes.push_back(grids);
  }
  return classes;
}

// What is in use at the peak of an assignment: by variable, most first.
std::vector<std::pair<int64_t, int>> AtPeak(const PairwiseProblem& problem,
                                            const Assignment& assignment, int64_t* time) {
  std::map<int64_t, int64_t> change;
  for (const MemoryUse& use : problem.memory.uses) {
    change[use.begin] += (*use.usage)[assignment[use.variable]];
    change[use.end] -= (*use.usage)[assignment[use.variable]];
  }
  int64_t load = 0, peak = -1;
  for (const auto& [at, by] : change) {
    load += by;
    if (load > peak) peak = load, *time = at;
  }
  std::vector<std::pair<int64_t, int>> uses;
  for (const MemoryUse& use : problem.memory.uses) {
    if (*time < use.begin || use.end <= *time) continue;
    uses.emplace_back((*use.usage)[assignment[use.variable]], use.variable);
  }
  std::sort(uses.rbegin(), uses.rend());
  return uses;
}

absl::Status TooLittle(const Graph& graph, const Problem& problem, int64_t limit,
                       int64_t smallest) {
  const PairwiseProblem& pairwise = problem.pairwise;
  const Assignment least = LeastUsage(pairwise);
  int64_t time = 0;
  const int tensors = static_cast<int>(graph.tensors.size());
  std::vector<std::string> largest;
  for (const auto& [bytes, variable] : AtPeak(pairwise, least, &time)) {
    if (largest.size() == kNamed) break;
    const int element = problem.elements[variable];
    largest.push_back(absl::StrCat(
        element < tensors
            ? graph.tensors[element].name
            : absl::StrCat("what node ", graph.nodes[element - tensors].name, " works on"),
        " ", bytes, " B"));
  }
  const size_t node = std::min<size_t>(time / 3, graph.nodes.size() - 1);
  const std::string found =
      smallest == 0 ? "" : absl::StrCat(" (the smallest that was found needs ", smallest, ")");
  return absl::FailedPreconditionError(absl::StrCat(
      "no plan within ", limit, " bytes a device was found", found, ": at least ",
      PeakOf(pairwise, least), " are in use at node ", graph.nodes[node].name, ", most of them by ",
      absl::StrJoin(largest, ", "), ". Allow more with --memory, or use more devices"));
}

}  // namespace

absl::StatusOr<LimitedCuts> SearchWithinLimit(const Graph& graph, const LimitedSearch& search) {
  Problem problem = BuildProblem(graph, search.problem);
  const int64_t limit = search.limit > 0 ? search.limit : kNoLimit;
  problem.pairwise.memory = MemoryRowsOf(graph, search.problem.mesh, problem, limit);
  const LimitSolver solver(problem.pairwise, ClassesOf(problem, search.problem.mesh),
                           search.table_cells);
  int64_t smallest = 0;
  // What the rows do not count shows in programs: the rows must then keep to less.
  int64_t target = limit;
  for (int round = 0; round < kRounds && target > 0; ++round) {
    const absl::optional<Assignment> assignment = solver.Solve(target);
    if (!assignment.has_value()) break;
    LimitedCuts result;
    result.cuts = problem.CutsOf(*assignment);
    const int64_t needed = search.memory_of ? search.memory_of(result.cuts) : 0;
    if (needed > limit) {
      smallest = smallest == 0 ? needed : std::min(smallest, needed);
      target -= needed - limit;
      continue;
    }
    result.proof.kind = solver.order().empty() ? "none" : "elimination";
    if (solver.order().empty()) return result;
    result.lower_bound = solver.bound();
    result.proof.order = problem.ElementOrder(solver.order());
    if (search.limit > 0) result.proof.prices = solver.prices();
    return result;
  }
  return TooLittle(graph, problem, limit, smallest);
}

}  // namespace yuba
