// What data parallelism and ZeRO share: computation and activations on the batch.
#ifndef YUBA_SEARCH_BASELINES_BATCH_H_
#define YUBA_SEARCH_BASELINES_BATCH_H_

#include "opsemantics/definition/graph.h"
#include "search/space/restriction.h"

namespace yuba::search {

// Nodes and tensors that have the batch are cut along it; others may be cut in any way.
Restrictions OnTheBatch(const Graph& graph);

// Parameters and constants.
bool IsStoredBefore(const Tensor& tensor);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_BATCH_H_
