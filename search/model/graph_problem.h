// The pairwise problem of a graph: which cut each tensor and each node gets, and what that moves.
#ifndef YUBA_SEARCH_MODEL_GRAPH_PROBLEM_H_
#define YUBA_SEARCH_MODEL_GRAPH_PROBLEM_H_

#include <memory>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/plan/choice.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"
#include "search/space/cluster.h"
#include "search/space/domain.h"
#include "search/space/grid_space.h"
#include "search/space/restriction.h"

namespace yuba::search {

struct ProblemOptions {
  Mesh mesh;
  Nesting nesting = Nesting::kFree;
  std::vector<int> axes;      // those to place now; the ones before them in the mesh are in `given`
  Choices given;              // by element; empty: no earlier ones
  Restrictions restrictions;  // by element; one that leaves no choice is none
  // By element: its choices have these grids, in lexicographic order; empty: any. All axes are
  // placed together; equal spaces share their list.
  std::vector<GridList> grids;
  bool replicate = false;  // stored tensors may be replicated
  bool cluster = true;     // false: a variable for each element; needed with `replicate`
  bool tables = true;      // false: factors have no cells; they say what meets in them
  const Budget* budget = &Budget::Unlimited();
};

// Variables are in an order that does not depend on names, and hardly on the order of nodes.
struct Problem {
  PairwiseProblem pairwise;
  Clusters clusters;
  std::vector<int> elements;  // by variable: the representative of its cluster
  std::vector<int> variable;  // by element
  std::vector<std::shared_ptr<const std::vector<Choice>>>
      choices;  // by element: its cut for each value
  // By node: the factor of its result, then of each operand; -1 where nothing ever moves.
  std::vector<std::vector<int>> factors;
  bool complete = true;  // false: the budget was spent, some or all of the costs are missing

  Choices ChoicesOf(const Assignment& assignment) const;
  // The other way; the first value where a choice is in no domain.
  Assignment ValuesOf(const Choices& choices_of_elements) const;
  // The elimination order of all elements that belongs to one of the variables.
  std::vector<int> ElementOrder(const std::vector<int>& order) const;
};

Problem BuildProblem(const Graph& graph, const ProblemOptions& options);

// The number of cells of all cost tables that BuildProblem would make, at most: one table for equal
// uses.
int64_t TableCells(const Graph& graph, int axes);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_GRAPH_PROBLEM_H_
