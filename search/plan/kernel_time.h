// How long a node's kernel takes on the device that has the largest part of it.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] over 7 x 8 x 8 values, i cut in 2: the largest part
// has 4 x 8 x 8 points.
#ifndef YUBA_SEARCH_PLAN_KERNEL_TIME_H_
#define YUBA_SEARCH_PLAN_KERNEL_TIME_H_

#include <cstdint>

#include "opsemantics/definition/graph.h"
#include "search/plan/grid.h"
#include "search/plan/objective.h"

namespace yuba::search {

// Nanoseconds of one run of the node, cut as the grid says: the time of its work
// (opsemantics/sharding/work.h) where each index runs from 0 over as many values as its longest
// part has, with the launch. 0 of a node that makes a copy, which computes nothing. Products and
// convolutions count as library calls. The objective has a machine.
int64_t KernelTime(const Graph& graph, NodeId node, const Grid& grid, const Objective& objective);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_KERNEL_TIME_H_
