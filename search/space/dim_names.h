// Labels of dimensions, such as "this is the batch": they flow from the inputs through the
// definitions.
#ifndef YUBA_SEARCH_SPACE_DIM_NAMES_H_
#define YUBA_SEARCH_SPACE_DIM_NAMES_H_

#include <string>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::search {

// By tensor and flat dimension: a number; -1 where there is none.
using TensorDimNames = std::vector<std::vector<int>>;

struct NamedDims {
  TensorDimNames tensors;
  std::vector<std::vector<int>> nodes;  // by node and index
};

// An index takes the label of the first operand's dimension along which it runs alone and whole, a
// dimension of a result that of its index, where `seeds` gives it none.
NamedDims PropagateDimNames(const Graph& graph, TensorDimNames seeds);

// What the user's model calls dimensions, each name once, and the number of its name on each
// dimension that has one.
struct DimNames {
  std::vector<std::string> names;
  TensorDimNames dim_names;
};
DimNames NamesOfDims(const Graph& graph);

// 0 on the batch: the inputs' dimensions that the model calls batch or batch_size; where it calls
// none so that is longer than 1, the first one of the inputs that agree on its extent, the most
// there are.
TensorDimNames BatchOfInputs(const Graph& graph);

// For each dimension of the operand the index that runs along it, alone and in all reads, those of
// conditions on data too (embeddings read the numbers of their rows there); else -1.
std::vector<int> IndicesAlong(const Definition& definition, int operand);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_DIM_NAMES_H_
