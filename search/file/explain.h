// Why something moves, in words for people: the `why` and `over` of a plan file's transfers.
//
// All functions take a plan of the graph and one row of MovesOf(graph, plan).
#ifndef YUBA_SEARCH_FILE_EXPLAIN_H_
#define YUBA_SEARCH_FILE_EXPLAIN_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "opsemantics/definition/known_definitions.h"
#include "search/plan/plan.h"

namespace yuba::search {

// The mesh axes across which the move goes, in the order of the mesh. A gather crosses the axes
// that cut the tensor where the node is not cut alike; a reduction crosses those that cut the node
// where the tensor is not cut alike, and all that cut a reduction index. Example: x [32/ab, 64]
// read by a node that cuts the first dimension over a alone is gathered across b.
AxisList AxesCrossed(const Graph& graph, const Plan& plan, const Move& move);

// Why the moves of a plan happen. Nodes of equal definitions that are partitioned alike are looked
// at once, whatever the number of devices. Graph and plan must outlive it.
class MoveReasons {
 public:
  MoveReasons(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {}

  // One clause, for example "qkv cuts r over a and needs all of it".
  std::string Why(const Move& move);

 private:
  // Whether every device reads all of the operand.
  bool ReadsAll(const Definition& definition, int operand, const Partition& partition);

  const Graph& graph_;
  const Plan& plan_;
  KnownDefinitions definitions_;
  // By the number of the definition, the operand and the partition.
  std::map<std::tuple<int, int, std::vector<AxisList>>, bool> reads_all_;
};

// A partition in words, "r over a and s.1 over bc"; "" where no index is cut. With `reductions`
// only reduction indices are named.
std::string ShardingInWords(const Definition& definition, const Sharding& partition,
                            const Mesh& mesh, bool reductions);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_FILE_EXPLAIN_H_
