#include "search/memory_split.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace yuba {

MemorySplits::MemorySplits(const PairwiseProblem& problem)
    : problem_(problem), usage_(problem.variables.size()) {
  for (const MemoryUse& use : problem.memory.uses) {
    if (usage_[use.variable] == nullptr) usage_[use.variable] = use.usage;
  }
}

int64_t MemorySplits::At(const MemorySplit& split, const Assignment& assignment) const {
  if (split.factor < 0) return (*usage_[split.variable])[assignment[split.variable]];
  return CostOf(problem_, problem_.factors[split.factor], assignment);
}

bool MemorySplits::Meets(const Assignment& assignment,
                         const std::vector<MemoryCondition>& conditions) const {
  return std::all_of(conditions.begin(), conditions.end(), [&](const MemoryCondition& each) {
    return (At(each.split, assignment) > each.split.bytes) == each.more;
  });
}

PairwiseProblem MemorySplits::Under(const std::vector<MemoryCondition>& conditions) const {
  PairwiseProblem limited = problem_;
  std::map<int, int> of_variable;  // the factor of its conditions
  for (const auto& [split, more] : conditions) {
    const std::vector<int64_t>& bytes = *CellsOf(split);
    int factor = split.factor;
    if (factor < 0) {
      const auto next = static_cast<int>(limited.factors.size());
      factor = of_variable.emplace(split.variable, next).first->second;
      if (factor == next) {
        limited.factors.push_back(
            {{split.variable},
             std::make_shared<const std::vector<int64_t>>(bytes.size(), int64_t{0})});
      }
    }
    std::vector<int64_t> cells = *limited.factors[factor].cells;
    for (size_t i = 0; i < cells.size(); ++i) {
      if ((bytes[i] > split.bytes) != more) cells[i] = kForbidden;
    }
    limited.factors[factor].cells = std::make_shared<const std::vector<int64_t>>(std::move(cells));
  }
  return limited;
}

int64_t MemorySplits::CellCount(const MemorySplit& split) const {
  return static_cast<int64_t>(CellsOf(split)->size());
}

const Cells& MemorySplits::CellsOf(const MemorySplit& split) const {
  return split.factor < 0 ? usage_[split.variable] : problem_.factors[split.factor].cells;
}

}  // namespace yuba
