// Repetition: the steps of an unrolled loop use the same weights, and a good plan cuts them alike.
//
// A problem in which they must choose alike has far fewer variables. Its best plan is a start for
// the search of the problem itself, which stays untied. Example: an LSTM of 20 steps has 20 nodes
// of one definition that read the same weight; tied, they are one variable.
#ifndef YUBA_SEARCH_MODEL_TIES_H_
#define YUBA_SEARCH_MODEL_TIES_H_

#include <vector>

#include "search/model/graph_problem.h"

namespace yuba::search {

// [variable]: a number, 0 .. count-1, equal for variables that do the same at another step: nodes
// of equal definitions with the same weights a few nodes up, or their results, with equal domains.
std::vector<int> RepeatedVariables(const Graph& graph, const Problem& problem);

// The problem with a variable for each number: all variables of that number have its value.
PairwiseProblem Tied(const PairwiseProblem& problem, const std::vector<int>& numbers);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_TIES_H_
