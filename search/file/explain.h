// Why something moves, in words for people: the `why` and `over` of a plan file's transfers.
//
// All functions take a plan of the graph and one row of MovesOf(graph, plan).
#ifndef YUBA_SEARCH_FILE_EXPLAIN_H_
#define YUBA_SEARCH_FILE_EXPLAIN_H_

#include <string>

#include "search/plan/plan.h"

namespace yuba::search {

// The mesh axes across which the move goes, in the order of the mesh. A gather crosses the axes
// that cut the tensor where the node is not cut alike; a reduction crosses those that cut the node
// where the tensor is not cut alike, and all that cut a reduction index. Example: x [32/ab, 64]
// read by a node that cuts the first dimension over a alone is gathered across b.
AxisList AxesCrossed(const Graph& graph, const Plan& plan, const Move& move);

// One clause, for example "qkv cuts r over a and needs all of it".
std::string WhyMoved(const Graph& graph, const Plan& plan, const Move& move);

// A partition in words, "r over a and s.1 over bc"; "" where no index is cut. With `reductions`
// only reduction indices are named.
std::string ShardingInWords(const Definition& definition, const Sharding& partition,
                            const Mesh& mesh, bool reductions);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_FILE_EXPLAIN_H_
