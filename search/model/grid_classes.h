// Grids: into how many parts a choice takes each extent, whatever the names and the order of the
// axes.
#ifndef YUBA_SEARCH_MODEL_GRID_CLASSES_H_
#define YUBA_SEARCH_MODEL_GRID_CLASSES_H_

#include <vector>

#include "opsemantics/sharding/sharding.h"
#include "search/model/graph_problem.h"
#include "search/plan/choice.h"
#include "search/solve/dual.h"

namespace yuba::search {

// Cuts of one grid are one class; classes are numbered in the lexicographic order of their parts.
Classes GridsOf(const std::vector<Choice>& choices, const Mesh& mesh);

// By variable of the problem; equal domains share theirs.
std::vector<ClassesPtr> GridsOf(const Problem& problem, const Mesh& mesh);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_GRID_CLASSES_H_
