// Names of dimensions, such as "batch", carried from the inputs through the definitions.
//
// Names are numbers here. Example: x f32[8, 64] has {0, -1}, where 0 is the batch; in
// y[i, j] = sum(k) x[i, k] * w[k, j] index i runs along the batch, so that y gets {0, -1} and the
// node {0, -1, -1}. Pins (--pin batch=data) and baselines find out by this what the batch becomes.
#ifndef YUBA_SEARCH_SPACE_DIM_NAMES_H_
#define YUBA_SEARCH_SPACE_DIM_NAMES_H_

#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::search {

// [TensorId][flat dimension]: the number of its name; -1 where it has none.
using TensorDimNames = std::vector<std::vector<int>>;

struct NamedDims {
  TensorDimNames tensors;
  std::vector<std::vector<int>> nodes;  // [NodeId][index]
};

// Carries the names in `seeds`, which has a list for each tensor, on in the order of the graph. An
// index takes the name of the dimension along which it runs alone and whole; of several, that of
// the first operand. A dimension of a result takes the name of its index, unless `seeds` gives it
// one.
NamedDims PropagateDimNames(const Graph& graph, TensorDimNames seeds);

// What the user's model calls dimensions.
struct DimNames {
  std::vector<std::string> names;  // each once
  TensorDimNames dim_names;        // numbers are positions in `names`
};
DimNames NamesOfDims(const Graph& graph);

// Whether it is known of some input which of its dimensions is the batch (Tensor::batch_dim).
bool HasBatch(const Graph& graph);
// 0 on the batch, -1 elsewhere. The batch is what is known to be it. Where nothing is, as in graphs
// that no file was read for, it is the first dimension of the inputs whose first dimension has the
// most frequent extent above 1; or the second of those whose second has, where more of the work is
// done for each element along that by itself: an RNN whose input is [time, batch, features] takes
// time step by step, and its batch all at once.
TensorDimNames BatchOfInputs(const Graph& graph);
// The elements along the batch of the first input that has one; 1 where none has.
int64_t BatchSize(const Graph& graph, const TensorDimNames& batch);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_DIM_NAMES_H_
