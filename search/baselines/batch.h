// What data parallelism, ZeRO and Megatron share: computation and activations are cut on the batch.
//
// Which dimensions are the batch is in search/space/dim_names.h.
#ifndef YUBA_SEARCH_BASELINES_BATCH_H_
#define YUBA_SEARCH_BASELINES_BATCH_H_

#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"
#include "search/space/restriction.h"

namespace yuba::search {

// [element]: nodes and tensors that have the batch are cut along it, as far as it goes; the others
// are not restricted.
Restrictions OnTheBatch(const Graph& graph);

// Whether the tensor is there before a step, or is a copy of one that is: of a parameter or a
// constant.
bool IsStoredBefore(const Graph& graph, TensorId id);

// A clause on a batch that does not fill so many devices; "" where it does.
std::string WhyNotFilled(const Graph& graph, int64_t devices);

// A clause on weights that the graph computes in each step, as from the integers that stand for
// them; "" where it computes none. Published systems compute them on every device, plans never
// repeat work.
std::string WhyWeightsMove(const Graph& graph);

// Over how many devices the plan keeps the same weights: the product of the sizes of the mesh axes
// that cut no parameter. In a product with data parallelism, how many devices that has.
int64_t ReplicasOfWeights(const Graph& graph, const Plan& plan);

// Those of the clauses that are not empty, as one sentence.
std::string Joined(const std::vector<std::string>& clauses);

// Whether the graph is a training step: some parameter is updated.
bool Trains(const Graph& graph);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_BASELINES_BATCH_H_
