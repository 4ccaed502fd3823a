// A canonical order of a graph's tensors and nodes: by structure, not by names or by the order of
// the file. The search visits elements in it, so that a plan depends on neither.
//
// Elements are the tensors, by TensorId, and behind them the nodes: element = tensors.size() +
// node.
#ifndef YUBA_SEARCH_REWRITE_CANONICAL_H_
#define YUBA_SEARCH_REWRITE_CANONICAL_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"

namespace yuba::search {

// [node]: a number, 0, 1, ... in the order of the nodes; equal definitions have equal numbers.
std::vector<int> DefinitionNumbers(const Graph& graph);

// Where a program of the graph has an element. Node n is at 3n + 1, the tensor that it makes at
// 3n + 2; an input, parameter or constant at 3n if node n is its first reader, and at -1 if nothing
// reads it.
int ProgramPosition(const Graph& graph, int element);

// All elements, ordered by a hash of their own structure and of what surrounds them. Elements of
// equal hashes come in the order of the graph.
std::vector<int> CanonicalOrder(const Graph& graph);

// [element]: a hash of its own structure and of what surrounds it, up to so many uses away: equal
// in repeated parts of a graph but near their ends. Left out are offsets, constants in the
// positions of reads, by which the steps of a loop slice an input, and the place of an operand
// where a node reads more than eight, a sum or concatenation of steps. `own`: [element], numbers
// that count as their own structure too; or empty.
std::vector<uint64_t> SurroundingHashes(const Graph& graph, int uses,
                                        const std::vector<int>& own = {});

}  // namespace yuba::search

#endif  // YUBA_SEARCH_REWRITE_CANONICAL_H_
