#include "compiler/kernels/function_uses.h"

#include <utility>

#include "compiler/spmd/tables.h"
#include "opsemantics/base/check.h"
#include "runtime/program/enums.h"
#include "runtime/program/tables.h"

namespace yuba::kernels {
namespace {

std::vector<int> OverwrittenBy(const program::Kernel& kernel) {
  std::vector<int> results(kernel.operands_size(), -1);
  for (int o = 0; o < kernel.operands_size(); ++o) {
    for (int r = 0; r < kernel.results_size(); ++r) {
      if (kernel.operands(o).buffer() == kernel.results(r).buffer()) results[o] = r;
    }
  }
  return results;
}

ElementType TypeOfTensor(const program::Program& program, const program::Kernel& kernel,
                         const program::KernelTensor& tensor) {
  if (tensor.kind_case() == program::KernelTensor::kInternal)
    return FromProto(kernel.internals(tensor.internal()).type());
  return FromProto(program.buffers(kernel.results(tensor.result()).buffer()).type());
}

KernelTensor TensorOf(const program::KernelTensor& tensor) {
  switch (tensor.kind_case()) {
    case program::KernelTensor::kResult: return {KernelTensor::kResult, tensor.result()};
    case program::KernelTensor::kInternal: return {KernelTensor::kInternal, tensor.internal()};
    default: return {KernelTensor::kOperand, tensor.operand()};
  }
}

}  // namespace

std::vector<FunctionUse> UsesOf(const Graph& graph, const program::Program& program) {
  std::vector<FunctionUse> uses(program.functions_size());
  NodeId next = 0;
  for (const program::Instruction& instruction : program.instructions()) {
    if (!instruction.has_kernel()) continue;
    const program::Kernel& kernel = instruction.kernel();
    const program::Function& function = program.functions(kernel.function());
    FunctionUse& use = uses[kernel.function()];
    use.definitions.clear();
    for (int d = 0; d < function.definitions_size(); ++d) {
      while (next < static_cast<NodeId>(graph.nodes.size()) && IsCopy(graph, graph.nodes[next]))
        ++next;
      YUBA_CHECK(next < static_cast<NodeId>(graph.nodes.size())) << kernel.node(d);
      const Node& node = graph.nodes[next++];
      YUBA_CHECK(node.name == kernel.node(d)) << node.name << " and " << kernel.node(d);
      use.kernel = &kernel;
      use.node = &node;
      use.definitions.push_back(compiler::ComputedBy(function, d, *node.definition));
      use.definitions.back().result.type =
          TypeOfTensor(program, kernel, function.definitions(d).computes());
    }
    std::vector<int> overwritten_by = OverwrittenBy(kernel);
    use.may_alias |= use.used && use.overwritten_by != overwritten_by;
    use.overwritten_by = std::move(overwritten_by);
    use.used = true;
  }
  return uses;
}

NamedKernel KernelOf(const program::Function& function, const FunctionUse& use) {
  NamedKernel kernel;
  kernel.symbol = function.symbol();
  for (int d = 0; d < function.definitions_size(); ++d) {
    const program::FunctionDefinition& from = function.definitions(d);
    KernelDefinition definition;
    definition.definition = &use.definitions[d];
    definition.indices.assign(from.indices().begin(), from.indices().end());
    for (const program::KernelTensor& operand : from.operands())
      definition.operands.push_back(TensorOf(operand));
    definition.computes = TensorOf(from.computes());
    kernel.definitions.push_back(std::move(definition));
  }
  kernel.sections = program::SectionsOf(function);
  kernel.shared = kernel.sections[0].shared;
  if (kernel.sections.size() == 1) kernel.sections.clear();
  kernel.overwritten_by = use.overwritten_by;
  kernel.may_alias = use.may_alias;
  kernel.checks_indices = function.checks_indices();
  return kernel;
}

}  // namespace yuba::kernels
