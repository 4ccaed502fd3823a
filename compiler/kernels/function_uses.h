// What the functions of a program compute: their definitions, from the graph of which the program
// was made, and what generation needs to know of the kernels that call them.
#ifndef YUBA_COMPILER_KERNELS_FUNCTION_USES_H_
#define YUBA_COMPILER_KERNELS_FUNCTION_USES_H_

#include <vector>

#include "compiler/kernels/named_kernel.h"
#include "opsemantics/definition/graph.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// What a function computes, the last kernel and node that call it, and where the kernels that call
// it have their results.
struct FunctionUse {
  std::vector<Definition> definitions;  // results have the type of their buffer
  const program::Kernel* kernel = nullptr;
  const Node* node = nullptr;
  // [operand]: the result that lies in its buffer, or -1. In all kernels, or may_alias is set.
  std::vector<int> overwritten_by;
  bool used = false, may_alias = false;
};

// [function]. The definitions of the program's kernels, one after the other, are the nodes of the
// graph with short sums (compiler/spmd/short_sums.h) in order, copies left out. Partials have the
// element type of their buffer, which is the accumulator's. Graph and program must outlive it.
std::vector<FunctionUse> UsesOf(const Graph& graph, const program::Program& program);

// The kernel that is generated for a function. `use` must outlive it.
NamedKernel KernelOf(const program::Function& function, const FunctionUse& use);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_FUNCTION_USES_H_
