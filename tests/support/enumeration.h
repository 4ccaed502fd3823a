// The cheapest plan by trying all of them, priced by marking: no code of the search.
#ifndef YUBA_TESTS_SUPPORT_ENUMERATION_H_
#define YUBA_TESTS_SUPPORT_ENUMERATION_H_

#include <cstdint>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

// What the plans that are tried may express.
struct TriedSpace {
  // A tensor that several nodes read may be made a copy of, with any legal sharding, from which all
  // of them gather (one window holds the whole graph).
  bool copies = false;
  // A stored tensor may be cut less far than it can be.
  bool replicate = false;
};

struct TriedPlans {
  int64_t least = -1;  // bytes of the cheapest; -1: there are more combinations than `limit`
  double plans = 0;    // how many plans that covers
};

// Accumulators are of the graph, copies are not: `graph` has none.
// Tries the shardings of all nodes in all combinations, at most `limit`, and for each of them,
// tensor by tensor, all shardings of the tensor and of its copy: tensors meet only through nodes.
TriedPlans TryAllPlans(const Graph& graph, const Mesh& mesh, const TriedSpace& space,
                       int64_t limit);

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_ENUMERATION_H_
