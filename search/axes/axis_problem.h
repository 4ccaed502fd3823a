// What the search for labels works on: variables that are to be cut, and the uses between them.
#ifndef YUBA_SEARCH_AXES_AXIS_PROBLEM_H_
#define YUBA_SEARCH_AXES_AXIS_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/axes/choice_store.h"
#include "search/model/graph_problem.h"
#include "search/model/grid_problem.h"
#include "search/plan/choice.h"
#include "search/plan/choice_space.h"

namespace yuba::search {

// A use of a tensor by a node, or several that are alike.
struct AxisEdge {
  UseCosts* costs = nullptr;
  int kind = 0;              // as in TensorUse
  int tensor = 0, node = 0;  // variables
  int tensor_dims = 0,
      node_dims = 0;  // numbers in the store: how the ends take their variables' cuts
  int along = 0;      // the same for the dimension of the tensor that runs along each index
  int64_t count = 1;
};

struct AxisVariable {
  ChoiceSpace space;
  bool computed = false;    // not a leaf of the graph
  std::vector<Grid> grids;  // likely ones, the best first; at least one
  std::vector<int> edges;
  int kind = 0;  // equal where variables are cut, used and used with alike
};

struct AxisProblem {
  std::vector<AxisVariable> variables;  // as the graph computes them
  std::vector<AxisEdge> edges;
  std::vector<int> elements;  // by variable: the element whose cut is its own; none where tied
  std::vector<int> variable, dims;  // by element: its variable, and how it takes that one's cut
};

// A variable for each cluster of elements. `grids` by element. With `replicate` any tensor may
// leave axes out, and each element but a copy and its node is a cluster of its own.
AxisProblem MakeAxisProblem(const Graph& graph, const std::vector<TensorUse>& uses,
                            const std::vector<std::vector<Grid>>& grids, ChoiceStore* store,
                            bool replicate = false);

// By element: the choices of all, those of the variables being these.
Choices ChoicesOfElements(const AxisProblem& problem, const std::vector<int>& choices,
                          ChoiceStore* store);

// The problem in which variables of one kind are one: repeated parts of a graph are cut alike.
AxisProblem Tied(const AxisProblem& problem);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_AXIS_PROBLEM_H_
