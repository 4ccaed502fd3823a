// One step of composition: a map becomes part of a node that reads it.
#ifndef YUBA_COMPILER_SIMPLIFY_COMPOSE_H_
#define YUBA_COMPILER_SIMPLIFY_COMPOSE_H_

#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// Whether every point of the reader reads one element of the operand, by bare indices and without
// an `else`, and no element is read twice at different points: no work is repeated where what
// computes the operand becomes part of the reader.
bool ReadsEachOnce(const Definition& reader, int operand);

// Puts the map, whose result node `reader` reads by bare indices, into the reader's body. The map
// stays, for its other readers. False, and nothing is changed, where the body would have more than
// 64 distinct terms. Consumers of the map's operands are left as they were.
bool ComposeInto(Graph& graph, NodeId map, NodeId reader);

// Whether the node is a copy through which no gradient goes, of what may have one.
bool EndsGradients(const Graph& graph, const Node& node);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SIMPLIFY_COMPOSE_H_
