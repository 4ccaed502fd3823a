// What the search for axes works on: a variable for each cluster of tensors and nodes, and an edge
// for each use of a tensor by a node. Costs are not tables here: they are counted when a pair of
// choices is first asked for (choice_store.h), since most pairs never are.
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

// A use of a tensor by a node, or several alike between the same two variables; of a reduction with
// what the node costs by itself.
struct AxisEdge {
  UseCosts* costs = nullptr;
  KernelCosts* kernels =
      nullptr;               // of the node, which its reduction has; null where it costs nothing
  int kind = 0;              // as in TensorUse: equal for equal costs
  int tensor = 0, node = 0;  // variables
  // How tensor and node take their variables' axes, and by index of the node the dimension of the
  // tensor that runs along it: numbers in the store.
  int tensor_dims = 0, node_dims = 0;
  int along = 0;
  int64_t count = 1;  // how many uses this edge stands for
};

struct AxisVariable {
  ChoiceSpace space;        // what may be cut, of the cluster's representative
  bool computed = false;    // false: a leaf of the graph, as inputs and parameters are
  Restriction restriction;  // of a pin
  std::vector<Grid> grids;  // likely ones, the best first; at least one
  std::vector<int> edges;   // numbers in AxisProblem::edges
  int kind = 0;  // equal where extents, pins, edges and the variables at their other ends are
};

struct AxisProblem {
  std::vector<AxisVariable> variables;  // in the order in which a program computes them
  std::vector<AxisEdge> edges;
  std::vector<int> elements;  // by variable: the representative of its cluster; empty where tied
  // By element (tensors, then nodes): its variable, and how it takes that variable's axes (a number
  // in the store).
  std::vector<int> variable, dims;
};

// A variable for each cluster of elements (search/space/cluster.h). `grids`: by element, likely
// ones, the best first. With `replicate` any tensor may leave axes out, and each element is a
// variable of its own, but for a copy and its node; so is each that pins restrict. Tells `store`
// how many kinds of uses there are.
AxisProblem MakeAxisProblem(const Graph& graph, const std::vector<TensorUse>& uses,
                            const std::vector<std::vector<Grid>>& grids, ChoiceStore* store,
                            bool replicate = false, const Restrictions& restrictions = {});

// By element: its choice, where the variables have these `choices` (numbers in the store).
Choices ChoicesOfElements(const AxisProblem& problem, const std::vector<int>& choices,
                          ChoiceStore* store);

// The problem with a variable for each number, 0 .. count-1 in the order of the variables: all
// variables of that number have its choice. They must have equal spaces and restrictions.
AxisProblem Tied(const AxisProblem& problem, const std::vector<int>& numbers);
// Such numbers by kind: parts of a graph with equal surroundings are cut alike.
std::vector<int> KindsOf(const AxisProblem& problem);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_AXIS_PROBLEM_H_
