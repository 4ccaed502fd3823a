// The pairwise problem of a graph: which choice each tensor and node gets, and what that moves.
//
// A graph and a mesh come in. Out come variables (clusters of elements), their domains (lists of
// choices) and factors: a table of bytes for each use of a tensor by a node. Example: y = x w gives
// the variables x, w, y and the product, and three factors: the gathers of x and of w and the
// reduction into y. On 8 devices a domain has up to a few hundred choices and a table some 10^4
// cells. Solvers (search/solve/) see only the pairwise problem; ChoicesOf turns their answer back.
#ifndef YUBA_SEARCH_MODEL_GRAPH_PROBLEM_H_
#define YUBA_SEARCH_MODEL_GRAPH_PROBLEM_H_

#include <memory>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/plan/choice.h"
#include "search/plan/objective.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"
#include "search/space/axis_group.h"
#include "search/space/cluster.h"
#include "search/space/domain.h"
#include "search/space/grid_space.h"
#include "search/space/restriction.h"

namespace yuba::search {

struct ProblemOptions {
  Mesh mesh;
  Objective objective;
  Nesting nesting = Nesting::kFree;
  std::vector<int> axes;  // those to place now; the axes before them in the mesh are in `given`
  Choices given;          // [element]: the axes placed at earlier levels; empty: none were
  // [element]; empty: no restrictions. A restriction that leaves no choice is ignored.
  Restrictions restrictions;
  // The axes that restrictions speak of, numbered from the first of them on; all that are placed
  // now are among them. Axes of other groups have restrictions of their own, earlier or later.
  AxisGroup group;
  // [element]: only choices of these grids, which are in lexicographic order; empty: any. Then all
  // axes must be placed together. Elements of equal spaces must share their list.
  std::vector<GridList> grids;
  bool replicate = false;  // stored tensors may be replicated
  // false: a variable for each element; needed with `replicate`. So it is under time, in which a
  // detour over a third sharding may pay.
  bool cluster = true;
  bool tables = true;  // false: no cells in the factors, only whether those of two are equal
  const Budget* budget = &Budget::Unlimited();
};

// Variables are in an order that does not depend on names, and hardly on the order of nodes.
struct Problem {
  PairwiseProblem pairwise;  // costs in units of the objective
  Clusters clusters;
  std::vector<int> elements;  // [variable]: the element that represents its cluster
  std::vector<int> variable;  // [element]
  std::vector<std::shared_ptr<const std::vector<Choice>>>
      choices;  // [element][value of its variable]
  // [node]: the factor of its result, then of each operand; -1 where nothing ever moves.
  std::vector<std::vector<int>> factors;
  bool complete = true;  // false: the budget was spent, some or all of the costs are missing

  // [element]: its choice in an assignment of the variables.
  Choices ChoicesOf(const Assignment& assignment) const;
  // The inverse: the assignment of these choices; value 0 where a choice is not in its domain.
  Assignment ValuesOf(const Choices& choices_of_elements) const;
  // An elimination order of all elements from one of the variables: merged elements come first.
  std::vector<int> ElementOrder(const std::vector<int>& order) const;
};

Problem BuildProblem(const Graph& graph, const ProblemOptions& options);

// The cells of all cost tables that BuildProblem fills for `axes` mesh axes with free nesting,
// equal uses counted once; an upper bound where no nodes are clustered. Clustered nodes that list
// their choices in another order have tables of their own, which are not counted. With `replicate`
// stored tensors may be replicated. Saturates.
int64_t TableCells(const Graph& graph, int axes, bool replicate = false);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_GRAPH_PROBLEM_H_
