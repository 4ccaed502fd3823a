// What data parallelism, ZeRO and Megatron share: computation and activations are cut on the batch.
//
// Which dimensions are the batch is in search/space/dim_names.h.
#ifndef YUBA_SEARCH_BASELINES_BATCH_H_
#define YUBA_SEARCH_BASELINES_BATCH_H_

#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/space/restriction.h"

namespace yuba::search {

// [element]: nodes and tensors that have the batch are cut along it, as far as it goes; the others
// are not restricted.
Restrictions OnTheBatch(const Graph& graph);

// Whether the tensor is there before a step, or is a copy of one that is: of a parameter or a
// constant.
bool IsStoredBefore(const Graph& graph, TensorId id);

// A clause on a batch that does not fill the devices of the mesh; "" where it does.
std::string WhyNotFilled(const Graph& graph, const Mesh& mesh);

// A clause on weights that the graph computes in each step, as from the integers that stand for
// them; "" where it computes none. Published systems compute them on every device, plans never
// repeat work.
std::string WhyWeightsMove(const Graph& graph);

// Those of the clauses that are not empty, as one sentence.
std::string Joined(const std::vector<std::string>& clauses);

// Whether the graph is a training step: some parameter is updated.
bool Trains(const Graph& graph);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_BATCH_H_
