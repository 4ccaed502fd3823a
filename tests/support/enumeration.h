// The cheapest plan of a small graph, by trying all plans and pricing them by marking (marking.h):
// no code of the search. Proved optima are compared with it.
#ifndef YUBA_TESTS_SUPPORT_ENUMERATION_H_
#define YUBA_TESTS_SUPPORT_ENUMERATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/moved.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

// What plans cost, where that is not bytes.
struct TriedPrices {
  // What one run of a use costs a device that receives this most expensively.
  std::function<int64_t(const std::vector<Moved>&)> exchange;
  // What one run of a node costs by itself.
  std::function<int64_t(NodeId, const Sharding&)> kernel;
};

// What the plans that are tried may express.
struct TriedSpace {
  // A tensor that several nodes read may get one copy, with any legal sharding, from which all of
  // them gather (one window holds the whole graph). A carried one may get one of each value.
  bool copies = false;
  // A stored tensor may be cut over fewer axes than it could be.
  bool replicate = false;
  // Whether an element may be cut so (tensors first, then nodes); empty: as it likes.
  std::function<bool(size_t element, const Sharding& sharding)> allows;
  const TriedPrices* prices = nullptr;  // null: bytes
};

struct TriedPlans {
  int64_t least = -1;  // cost of the cheapest, in bytes or as the prices say; -1: there are more
                       // combinations than `limit`
  double plans = 0;    // how many plans that covers
};

// Tries the partitions of all nodes in all combinations, at most `limit`, and for each of them,
// tensor by tensor, all shardings of the tensor and of its copy: shardings of two tensors meet only
// in a node's partition. `graph` may have accumulators, but no copies.
TriedPlans TryAllPlans(const Graph& graph, const Mesh& mesh, const TriedSpace& space,
                       int64_t limit);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_ENUMERATION_H_
