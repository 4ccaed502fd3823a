// A graph as text (README.md).
#ifndef YUBA_COMPILER_DUMP_GRAPH_TEXT_H_
#define YUBA_COMPILER_DUMP_GRAPH_TEXT_H_

#include <string>

#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// A line for each tensor and two for each node, with the shardings and partitions of `plan`, which
// is of this graph; null: there are none yet.
std::string GraphText(const Graph& graph, const search::Plan* plan);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_GRAPH_TEXT_H_
