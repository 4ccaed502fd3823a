// Nodes that a simplification has made part of others leave the graph.
#ifndef YUBA_COMPILER_SIMPLIFY_REMOVE_NODES_H_
#define YUBA_COMPILER_SIMPLIFY_REMOVE_NODES_H_

#include <utility>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// Keeps the nodes with dead[node] false, in their order, and links the graph.
inline void RemoveNodes(const std::vector<bool>& dead, Graph& graph) {
  std::vector<Node> nodes;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!dead[id]) nodes.push_back(std::move(graph.nodes[id]));
  }
  graph.nodes = std::move(nodes);
  Link(graph);
}

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_REMOVE_NODES_H_
