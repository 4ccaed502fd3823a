// Attention in a program: which kernels one call of a library may stand for (program.proto,
// Attention).
//
// Example: on 8 devices that have heads of their own, a device computes products of queries and
// keys, their softmax and the products with values of its heads, one kernel behind the other. One
// call can do that. Had each device some of the keys, an exchange would stand between the kernels,
// and no call could.
#ifndef YUBA_COMPILER_ATTENTION_STANDS_FOR_H_
#define YUBA_COMPILER_ATTENTION_STANDS_FOR_H_

#include <vector>

#include "compiler/attention/attention.h"
#include "opsemantics/definition/graph.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Adds to the program of the graph, of which neither functions nor memory are planned, those of
// `attention` whose kernels are neighbours on all devices and compute what one of them reads of
// another. Exchanges between them are moved to before the first, or behind the last.
void AddAttention(const Graph& graph, const std::vector<Attention>& attention,
                  program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ATTENTION_STANDS_FOR_H_
