// Repetition: layers of a network, steps of an unrolled loop. A good plan cuts them alike.
//
// A problem in which they must choose alike has the variables of a few of them alone. Its best plan
// is a start for the search of the problem itself, which stays untied. Example: a GPT of 128 equal
// blocks is tied to about four: the ends of the chain, which stay as they are, and one or two
// blocks for all between them. An unrolled LSTM is one of few steps.
#ifndef YUBA_SEARCH_MODEL_TIES_H_
#define YUBA_SEARCH_MODEL_TIES_H_

#include <cstddef>
#include <vector>

#include "search/model/graph_problem.h"
#include "search/model/grid_problem.h"

namespace yuba::search {

// Which elements share a variable of a problem, and which variables may have the same value.
struct VariableMap {
  std::vector<int> variable;  // [element]
  std::vector<int> alike;     // [variable]: a number, equal where the choices to be made are
};
VariableMap VariablesOf(const Problem& problem);
VariableMap VariablesOf(const GridProblem& problem);

// Elements are told apart by what is around them, so many uses away: enough to see where in its
// block an element is. With each use more the ends of a chain, which stay untied, grow by one. With
// 3 the plan of a GPT's training step of 8 layers moves 1.2 % more; 8 take twice the time.
inline constexpr int kSurroundings = 5;
// [element]: the element that does the same one repetition later; -1 where there is none. It is a
// shift of the graph: what reads, makes or is read by an element stands in the same way to the next
// one. Only elements with equal surroundings and alike variables have one, so the ends of a
// chain have none, and neither have blocks whose pins differ. Neither names nor values count. In a
// training step forward and backward blocks are shifted together.
// `depth`: surroundings are what is so many uses away.
std::vector<int> NextRepetition(const Graph& graph, const VariableMap& variables,
                                int depth = kSurroundings);

// [variable]: a number, 0 .. count-1, equal for variables that are `period` repetitions apart.
// `next`: as NextRepetition returns it.
std::vector<int> TiedVariables(const VariableMap& variables, const std::vector<int>& next,
                               int period);

// Whether a tied problem of so many variables, of `all`, is worth a search of its own: with more it
// is as hard as the whole.
inline bool FewRemain(size_t tied, size_t all) { return 4 * tied <= 3 * all; }

// The problem with a variable for each number: all variables of that number have its value.
PairwiseProblem Tied(const PairwiseProblem& problem, const std::vector<int>& numbers);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_TIES_H_
