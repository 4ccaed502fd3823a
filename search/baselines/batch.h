// What data parallelism, ZeRO and Megatron share: computation and activations are cut on the batch.
//
// Which dimensions are the batch is in search/space/dim_names.h.
#ifndef YUBA_SEARCH_BASELINES_BATCH_H_
#define YUBA_SEARCH_BASELINES_BATCH_H_

#include "opsemantics/definition/graph.h"
#include "search/space/restriction.h"

namespace yuba::search {

// [element]: nodes and tensors that have the batch are cut along it, as far as it goes; the others
// are not restricted.
Restrictions OnTheBatch(const Graph& graph);

// Whether the tensor is there before a step: a parameter or a constant.
bool IsStoredBefore(const Tensor& tensor);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_BATCH_H_
