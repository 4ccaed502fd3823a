// What data parallelism, ZeRO and Megatron share: computation and activations are cut on the batch.
//
// Which dimensions are the batch is in search/space/dim_names.h.
#ifndef YUBA_SEARCH_BASELINES_BATCH_H_
#define YUBA_SEARCH_BASELINES_BATCH_H_

#include <string>

#include "opsemantics/definition/graph.h"
#include "search/space/restriction.h"

namespace yuba::search {

// [element]: nodes and tensors that have the batch are cut along it, as far as it goes; the others
// are not restricted.
Restrictions OnTheBatch(const Graph& graph);

// Whether the tensor is there before a step, or is a copy of one that is: of a parameter or a
// constant.
bool IsStoredBefore(const Graph& graph, TensorId id);

// A sentence on a batch that does not fill the devices of the mesh; "" where it does.
std::string WhyNotFilled(const Graph& graph, const Mesh& mesh);

// Whether the graph is a training step: some parameter is updated.
bool Trains(const Graph& graph);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_BATCH_H_
