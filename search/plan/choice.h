// A choice: one value of a search variable. Each tensor is a variable whose choices are shardings,
// each node one whose choices are partitions.
#ifndef YUBA_SEARCH_PLAN_CHOICE_H_
#define YUBA_SEARCH_PLAN_CHOICE_H_

#include <vector>

#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// Of a tensor: by flat dimension, the mesh axes that it is cut over. Of a node: by index.
using Choice = Sharding;

// By element: the choice of each. Elements are the tensors of a graph, by TensorId, and behind them
// its nodes: element = tensors.size() + node.
using Choices = std::vector<Choice>;

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_CHOICE_H_
