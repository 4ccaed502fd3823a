#include "search/engines/nothing_fits.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "search/engines/incumbent.h"

namespace yuba::search {
namespace {

constexpr size_t kNamed = 3;                   // elements that an error names, of the largest
constexpr char kSmallest[] = "yuba/smallest";  // the key of an error's payload

// (bytes in use at that time, variable), most first.
std::vector<std::pair<int64_t, int>> UsesAt(const PairwiseProblem& problem,
                                            const Assignment& assignment, int64_t time) {
  std::vector<std::pair<int64_t, int>> uses;
  for (const MemoryUse& use : problem.memory.uses) {
    if (time < use.begin || use.end <= time) continue;
    uses.emplace_back((*use.usage)[assignment[use.variable]], use.variable);
  }
  std::sort(uses.rbegin(), uses.rend());
  return uses;
}

}  // namespace

int64_t LeastPeakOf(const PairwiseProblem& problem) {
  PairwiseProblem rows;
  rows.memory = problem.memory;
  for (MemoryUse& use : rows.memory.uses) {
    const auto least = std::min_element(use.usage->begin(), use.usage->end());
    use.usage = std::make_shared<const std::vector<int64_t>>(1, *least);
  }
  return UnmovedPeakOf(rows, Assignment(problem.variables.size(), 0));
}

absl::Status TooLittle(const Graph& graph, const PairwiseProblem& problem,
                       const std::vector<int>& elements, const Assignment& least, int64_t limit,
                       int64_t smallest) {
  int64_t time = 0;
  const int64_t peak = UnmovedPeakOf(problem, least, &time);
  if (graph.nodes.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("no plan within ", limit, " bytes a device: inputs and outputs need ", peak));
  }
  const int tensors = static_cast<int>(graph.tensors.size());
  std::vector<std::string> largest;
  for (const auto& [bytes, variable] : UsesAt(problem, least, time)) {
    if (largest.size() == kNamed) break;
    const int element = elements[variable];
    largest.push_back(absl::StrCat(
        element < tensors
            ? graph.tensors[element].name
            : absl::StrCat("what node ", graph.nodes[element - tensors].name, " works on"),
        " ", bytes, " B"));
  }
  const size_t node = std::min<size_t>(time / 3, graph.nodes.size() - 1);
  const std::string found =
      smallest < kNoLimit
          ? absl::StrCat(" (the smallest of those that were tried needs ", smallest, ")")
          : "";
  absl::Status error = absl::FailedPreconditionError(absl::StrCat(
      "no plan within ", limit, " bytes a device was found", found, ": at least ", peak,
      " are in use at node ", graph.nodes[node].name, ", most of them by ",
      absl::StrJoin(largest, ", "), ". Allow more with --memory, or use more devices"));
  if (smallest < kNoLimit) error.SetPayload(kSmallest, absl::Cord(absl::StrCat(smallest)));
  return error;
}

int64_t SmallestPeak(const absl::Status& error) {
  int64_t smallest = 0;
  const absl::optional<absl::Cord> payload = error.GetPayload(kSmallest);
  const bool known = payload.has_value() && absl::SimpleAtoi(std::string(*payload), &smallest);
  return known ? smallest : std::numeric_limits<int64_t>::max();
}

absl::Status StoppedWithin(const Budget& budget, int64_t limit) {
  if (budget.end() == Budget::End::kAsked) {
    return absl::CancelledError(
        absl::StrCat("interrupted before a plan within ", limit, " bytes a device was found"));
  }
  return absl::DeadlineExceededError(
      absl::StrCat("no plan within ", limit, " bytes a device was found in time: allow more with ",
                   "--time-limit or --memory, or use more devices"));
}

}  // namespace yuba::search
