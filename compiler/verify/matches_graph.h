// The static proof that a program computes its graph.
#ifndef YUBA_COMPILER_VERIFY_MATCHES_GRAPH_H_
#define YUBA_COMPILER_VERIFY_MATCHES_GRAPH_H_

#include "absl/status/status.h"
#include "opsemantics/definition/graph.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// The kernels are the nodes of `graph` in its order, copies left out; each reads its operands'
// tensors, and at least the boxes that its definition reaches; it makes what its definition makes;
// ports are the graph's.
absl::Status CheckMatchesGraph(const Graph& graph, const program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_MATCHES_GRAPH_H_
