// Which tensors are weights: what every figure of weights counts, and what baselines take for them.
//
// Example: a file stores W i8[768, 768] and its scale, dequantises W into f32, and looks rows up in
// a table by a stored list of numbers. W, the scale and the table are weights, the list is none.
// The f32[768, 768] is computed from weights alone: it is none that is stored, but what is moved of
// it is weights moved.
#ifndef YUBA_SEARCH_PLAN_WEIGHTS_H_
#define YUBA_SEARCH_PLAN_WEIGHTS_H_

#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::search {

// Whether the tensor is a stored weight: a parameter, or a constant of several numbers of which
// some node makes numbers: its value goes into a result of floats or into a sum, other than through
// a comparison. Lists of positions, shapes and masks are constants, but no weights.
bool IsStoredWeight(const Graph& graph, TensorId id);

// [TensorId]: whether it is a stored weight, a copy of one, or computed from such and from
// constants alone.
std::vector<bool> WeightTensors(const Graph& graph);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_WEIGHTS_H_
