// An order of a graph's nodes in which the nodes of attention stand together.
#ifndef YUBA_COMPILER_ATTENTION_NEIGHBOURS_H_
#define YUBA_COMPILER_ATTENTION_NEIGHBOURS_H_

#include <vector>

#include "compiler/attention/attention.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// The numbers of all nodes in an order in which those of each `forward`, and those of each
// `backward`, are neighbours. What stood between them and needs one of them comes behind them, all
// else before them; nothing else changes places. Attention that has no such order, as something
// that one of its nodes needs needs another of them, is dropped from `attention`.
std::vector<NodeId> NeighboursOrder(const Graph& graph, std::vector<Attention>& attention);

// The same with other numbers: `number` is the new one of each node.
void Renumber(const std::vector<NodeId>& number, Attention& attention);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ATTENTION_NEIGHBOURS_H_
