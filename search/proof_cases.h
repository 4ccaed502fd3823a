// Cases of problems with memory (memory_cases.h) as those of proofs, by elements of the graph.
#ifndef YUBA_SEARCH_PROOF_CASES_H_
#define YUBA_SEARCH_PROOF_CASES_H_

#include <vector>

#include "opsemantics/graph.h"
#include "search/memory_cases.h"
#include "search/plan.h"

namespace yuba {

// Where a problem has what may be split. Use 0 of a node is its result, the others its operands.
struct SplitPlaces {
  std::vector<int> variables;             // by element: its variable
  std::vector<int> elements;              // by variable: the element that stands for it
  std::vector<std::vector<int>> factors;  // by node and use: its factor, or -1
};

// What may be split, to the options. Not of what is one variable with others where tables are
// eliminated, which the checker cuts each for itself: addends with their sum; copies with their
// nodes, so that conditions on a copy itself hold in both.
void AddSplits(const Graph& graph, const SplitPlaces& places, CasesOptions* options);

// Those cases to the proof; prices and messages alone where there is one that has prices.
void AddCases(const std::vector<MemoryCase>& cases, const SplitPlaces& places, Proof* proof);

}  // namespace yuba

#endif  // YUBA_SEARCH_PROOF_CASES_H_
