// Why something moves, for people: what the plan file's transfers say.
#ifndef YUBA_SEARCH_FILE_EXPLAIN_H_
#define YUBA_SEARCH_FILE_EXPLAIN_H_

#include <string>

#include "search/plan/plan.h"

namespace yuba::search {

// The mesh axes across which the move goes, in the order of the mesh: those along which the tensor
// is cut and the node is not cut alike (a reduction: the other way round).
AxisList AxesCrossed(const Graph& graph, const Plan& plan, const Move& move);

// For example "qkv cuts r over a and needs all of it".
std::string WhyMoved(const Graph& graph, const Plan& plan, const Move& move);

// "r over a and s.1 over bc"; "" where nothing is cut. `reductions`: reduction indices only.
std::string ShardingInWords(const Definition& definition, const Sharding& sharding,
                            const Mesh& mesh, bool reductions);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_FILE_EXPLAIN_H_
