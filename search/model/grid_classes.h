// The choices of a domain by grid, as classes of values for the solvers of search/solve/, which
// know no tensors.
//
// Example: the choices [8/ab, 8], [8/ba, 8], [8/a, 8/b] have the grids {4, 1}, {4, 1} and {2, 2},
// so their classes are 1, 1 and 0.
#ifndef YUBA_SEARCH_MODEL_GRID_CLASSES_H_
#define YUBA_SEARCH_MODEL_GRID_CLASSES_H_

#include <vector>

#include "opsemantics/sharding/sharding.h"
#include "search/model/graph_problem.h"
#include "search/plan/choice.h"
#include "search/solve/relax.h"

namespace yuba::search {

// Choices of one grid are one class; classes are numbered in the lexicographic order of their
// grids.
Classes GridsOf(const std::vector<Choice>& choices, const Mesh& mesh);

// [variable of the problem]; variables of equal domains share their classes.
std::vector<ClassesPtr> GridsOf(const Problem& problem, const Mesh& mesh);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_GRID_CLASSES_H_
