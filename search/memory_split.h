// Cases of a problem with memory: how much a variable uses, or what a factor costs, at most or
// more.
#ifndef YUBA_SEARCH_MEMORY_SPLIT_H_
#define YUBA_SEARCH_MEMORY_SPLIT_H_

#include <cstdint>
#include <vector>

#include "search/pairwise.h"

namespace yuba {

// What a variable's first use takes, or what a factor costs: `bytes` at most, or more.
struct MemorySplit {
  int variable = -1;  // or
  int factor = -1;
  int64_t bytes = 0;

  bool empty() const { return variable < 0 && factor < 0; }
};

struct MemoryCondition {
  MemorySplit split;
  bool more = false;
};

class MemorySplits {
 public:
  explicit MemorySplits(const PairwiseProblem& problem);

  // What the split is of, for an assignment.
  int64_t At(const MemorySplit& split, const Assignment& assignment) const;

  bool Meets(const Assignment& assignment, const std::vector<MemoryCondition>& conditions) const;

  // The problem where what does not meet the conditions costs kForbidden, once for each scope.
  PairwiseProblem Under(const std::vector<MemoryCondition>& conditions) const;

  // Of the table that a condition on the split is.
  int64_t CellCount(const MemorySplit& split) const;

 private:
  const Cells& CellsOf(const MemorySplit& split) const;

  const PairwiseProblem& problem_;
  std::vector<Cells> usage_;  // by variable: of its first use
};

}  // namespace yuba

#endif  // YUBA_SEARCH_MEMORY_SPLIT_H_
