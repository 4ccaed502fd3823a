// Repetition: steps of an unrolled loop use the same weights, and a good plan cuts them alike. A
// plan that must do so is found much faster; it is a start for the search of one that need not.
#ifndef YUBA_SEARCH_MODEL_TIES_H_
#define YUBA_SEARCH_MODEL_TIES_H_

#include <vector>

#include "search/model/graph_problem.h"

namespace yuba::search {

// By variable: variables of equal numbers do the same at another step. Numbers are 0 .. count-1.
std::vector<int> RepeatedVariables(const Graph& graph, const Problem& problem);

// The problem in which variables of equal numbers have equal values.
PairwiseProblem Tied(const PairwiseProblem& problem, const std::vector<int>& numbers);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_TIES_H_
