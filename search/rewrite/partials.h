// Partials: sums that stay apart through what is linear in them. Where X W is cut over its sum,
// each device keeps its term Y_d, computes Y_d V, and only the products are added up: fewer bytes
// where they are smaller than Y.
#ifndef YUBA_SEARCH_REWRITE_PARTIALS_H_
#define YUBA_SEARCH_REWRITE_PARTIALS_H_

#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// The graph in which sums may stay apart: each tensor that is made by a sum, or by a node that
// reads such tensors, and read by one node alone that is linear in it, is partials (as those of
// accumulators.h), and that node has one more index for groups. It reads its partials within its
// group; a plan in which nothing is left apart has no groups and is one of `graph`. Of several
// operands in which a node is not linear together the largest come first.
//
// Only tensors are taken whose cuts use all axes of the mesh however they are cut, as do those of
// their producers. Replicas of such a tensor for its one reader would save nothing that the
// reader's gather does not: any plan of `graph` has one here that moves no more (WithGroups).
// Tensors and nodes keep their numbers. Graphs of which a plan may move kNever bytes
// (search/plan/memory_price.h) stay as they are.
Graph WithPartials(const Graph& graph, const Mesh& mesh);
// Whether there are such partials.
bool HasPartials(const Graph& graph);
// What WithPartials was made of.
Graph WithoutPartials(const Graph& graph);
// Cuts of WithoutPartials(graph), of its tensors and then of its nodes, as such of `graph`: no
// groups, and no replicas of partials.
std::vector<Sharding> WithGroups(const Graph& graph, const Mesh& mesh,
                                 std::vector<Sharding> shardings);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_REWRITE_PARTIALS_H_
