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

constexpr size_t kNamed = 3;  // elements that an error names, of the largest
// The keys of an error's payloads, which are integers in decimal.
constexpr char kSmallest[] = "yuba/smallest";
constexpr char kBound[] = "yuba/bound";

void SetNumber(const char* key, int64_t number, absl::Status& error) {
  error.SetPayload(key, absl::Cord(absl::StrCat(number)));
}

absl::optional<int64_t> NumberOf(const char* key, const absl::Status& error) {
  int64_t number = 0;
  const absl::optional<absl::Cord> payload = error.GetPayload(key);
  const bool known = payload.has_value() && absl::SimpleAtoi(std::string(*payload), &number);
  return known ? absl::make_optional(number) : absl::nullopt;
}

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

// What could be done, for people.
std::string AdviceFor(const Graph& graph) {
  const bool trains = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                  [](const Node& node) { return IsGradient(node.op); });
  return trains
             ? "Allow more with --memory, use more devices, or compute the gradients of a step in "
               "parts, as with --micro-batches 4"
             : "Allow more with --memory, or use more devices";
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
  absl::Status error = absl::FailedPreconditionError(
      absl::StrCat("no plan within ", limit, " bytes a device was found", found, ": at least ",
                   peak, " are in use at node ", graph.nodes[node].name, ", most of them by ",
                   absl::StrJoin(largest, ", "), ". ", AdviceFor(graph)));
  if (smallest < kNoLimit) SetNumber(kSmallest, smallest, error);
  return error;
}

int64_t SmallestPeak(const absl::Status& error) {
  return NumberOf(kSmallest, error).value_or(std::numeric_limits<int64_t>::max());
}

absl::Status WithBound(absl::Status error, int64_t bytes) {
  SetNumber(kBound, bytes, error);
  return error;
}

int64_t BoundOf(const absl::Status& error) { return NumberOf(kBound, error).value_or(0); }

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
