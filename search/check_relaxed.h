// The checker's own lower bounds of transfers between grids: into how many parts a tensor and a
// node are cut, whatever mesh axes cut them.
#ifndef YUBA_SEARCH_CHECK_RELAXED_H_
#define YUBA_SEARCH_CHECK_RELAXED_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "opsemantics/graph.h"
#include "opsemantics/placement.h"

namespace yuba {

// Whether two nodes have the same cuts at the same costs: they compute the same, and what they read and
// make may be cut alike.
bool CutAlike(const Graph& graph, const Node& a, const Node& b);

struct RelaxedTables {
  struct Use {
    int node = 0, tensor = 0;                          // ids
    std::shared_ptr<const std::vector<int64_t>> cost;  // [node grid][tensor grid], bytes
  };
  std::vector<Use> uses;            // each node's result, then its operands
  std::vector<int> tensors, nodes;  // by id: how many grids, in lexicographic order of the parts
};

// A bound of what a device keeps: let t be its part of the tensor, q its piece of the node. Over
// the devices all t come equally often, and all q. In each dimension the overlap is at most the
// most that part t shares with any piece, and at most the most that piece q shares with any part;
// take the one that is less on average. The first kind multiplied is a function of t, the second of
// q, and the sum of their products is greatest where both are sorted alike. Or, in one dimension of
// p parts and q pieces where neither divides the other: parts and pieces have axes of at most
// gcd(p, q) combinations in common and are independent otherwise, so the mean is at most gcd/(p*q)
// of what all pieces hold; the other dimensions then count at their greatest.
RelaxedTables MakeRelaxedTables(const Graph& graph, const Mesh& mesh);

}  // namespace yuba

#endif  // YUBA_SEARCH_CHECK_RELAXED_H_
