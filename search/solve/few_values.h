// A problem with few values of each variable, for searches that need no others.
//
// Example: variables of 5,000 values, of each the 32 that the messages of a dual (dual.h) prefer:
// tables of 1,024 cells in place of 25 million.
#ifndef YUBA_SEARCH_SOLVE_FEW_VALUES_H_
#define YUBA_SEARCH_SOLVE_FEW_VALUES_H_

#include <cstdint>
#include <vector>

#include "search/solve/pairwise.h"

namespace yuba::search {

// Value i of variable v stands for values[v][i] of the problem's variable v; each has at least one.
// Rows of memory are kept, symmetries are not. Equal tables of equal values stay shared.
PairwiseProblem OfFewValues(const PairwiseProblem& problem,
                            const std::vector<std::vector<int>>& values);

// The cells of all factors, shared ones as often as they are used: about what one look at all costs
// takes.
int64_t CellsOf(const PairwiseProblem& problem);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_FEW_VALUES_H_
