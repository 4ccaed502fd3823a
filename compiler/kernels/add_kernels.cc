#include "compiler/kernels/add_kernels.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/index_splits.h"
#include "compiler/kernels/kernels.h"
#include "compiler/kernels/library_call.h"
#include "compiler/kernels/opaque_calls.h"
#include "compiler/model.h"
#include "compiler/spmd/short_sums.h"
#include "compiler/spmd/tables.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/opaque.h"
#include "runtime/program/enums.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"

namespace yuba::kernels {
namespace {

// What a function computes, the last node that calls it, and where the kernels that call it have
// their results.
struct FunctionUse {
  std::vector<Definition> definitions;
  const Node* node = nullptr;
  // [operand]: the result that lies in its buffer, or -1. In all kernels, or may_alias is set.
  std::vector<int> overwritten_by;
  bool used = false, may_alias = false;
};

std::vector<int> OverwrittenBy(const program::Kernel& kernel) {
  std::vector<int> results(kernel.operands_size(), -1);
  for (int o = 0; o < kernel.operands_size(); ++o) {
    for (int r = 0; r < kernel.results_size(); ++r) {
      if (kernel.operands(o).buffer() == kernel.results(r).buffer()) results[o] = r;
    }
  }
  return results;
}

ElementType TypeOfTensor(const program::Stage& stage, const program::Kernel& kernel,
                         const program::KernelTensor& tensor) {
  if (tensor.kind_case() == program::KernelTensor::kInternal)
    return FromProto(kernel.internals(tensor.internal()).type());
  return FromProto(stage.buffers(kernel.results(tensor.result()).buffer()).type());
}

// [function]. The definitions of the program's kernels, one after the other, are the nodes of the
// graph with short sums in order, copies left out. Partials have the element type of their buffer,
// which is the accumulator's.
std::vector<FunctionUse> UsesOf(const Graph& graph, const program::Program& program) {
  std::vector<FunctionUse> uses(program.functions_size());
  const program::Stage& stage = program.stages(0);
  NodeId next = 0;
  for (const program::Instruction& instruction : stage.instructions()) {
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
      use.node = &node;
      use.definitions.push_back(compiler::ComputedBy(function, *node.definition));
      use.definitions.back().result.type =
          TypeOfTensor(stage, kernel, function.definitions(d).computes());
    }
    std::vector<int> overwritten_by = OverwrittenBy(kernel);
    use.may_alias |= use.used && use.overwritten_by != overwritten_by;
    use.overwritten_by = std::move(overwritten_by);
    use.used = true;
  }
  return uses;
}

KernelTensor TensorOf(const program::KernelTensor& tensor) {
  switch (tensor.kind_case()) {
    case program::KernelTensor::kResult: return {KernelTensor::kResult, tensor.result()};
    case program::KernelTensor::kInternal: return {KernelTensor::kInternal, tensor.internal()};
    default: return {KernelTensor::kOperand, tensor.operand()};
  }
}

// Whether it computes wrap(v, n), which says that v is an index into n.
bool Wraps(const std::vector<Definition>& definitions) {
  bool wraps = false;
  for (const Definition& definition : definitions) {
    Walk(definition, [&](const Expr& expr) {
      wraps |= expr.kind == Expr::kCall && expr.function == Function::kWrap;
    });
  }
  return wraps;
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
  kernel.shared = program::SharedIndices(function);
  kernel.overwritten_by = use.overwritten_by;
  kernel.may_alias = use.may_alias;
  kernel.checks_indices = function.checks_indices();
  return kernel;
}

// A library takes one definition alone.
absl::optional<program::LibraryCall> ChooseCall(const std::vector<Definition>& definitions,
                                                const KernelChoice& choice) {
  if (definitions.size() != 1 || IsOpaque(definitions[0])) return absl::nullopt;
  if (!choice.library || choice.target.arithmetic == Arithmetic::kHash) return absl::nullopt;
  LibraryFeatures features;
  features.convolutions = !choice.target.cuda;
  return LibraryCallFor(definitions[0], features);
}

absl::Status NoCodeForGpus(const Node& node) {
  return UserError("node ", node.name, " (", node.op, ", from ", node.from,
                   ") calls the opaque function '", node.definition->opaque.function,
                   "', which runs on processors only: compile with --target host and run with ",
                   "--backend host, or describe the operator by definitions (--operators)");
}

}  // namespace

std::string KernelKind(const Definition& definition, const KernelChoice& choice) {
  if (IsOpaque(definition)) return "opaque";
  if (!ChooseCall({definition}, choice)) return "loops";
  return choice.target.cuda ? "cublas" : "onednn";
}

absl::Status AddKernels(const compiler::Model& model, const KernelChoice& choice,
                        program::Program& program) {
  const KernelTarget& target = choice.target;
  const bool hash = target.arithmetic == Arithmetic::kHash;
  YUBA_CHECK(program.hash_arithmetic() == hash) << "memory was planned for another arithmetic";
  const absl::optional<compiler::ShortSums> sums = compiler::WithShortSums(model.graph);
  const std::vector<FunctionUse> uses =
      UsesOf(sums.has_value() ? sums->graph : model.graph, program);
  std::vector<NamedKernel> generated;
  for (int f = 0; f < program.functions_size(); ++f) {
    program::Function& function = *program.mutable_functions(f);
    function.clear_symbol();
    function.clear_library();
    function.clear_opaque();
    function.clear_splits();
    function.clear_checks_indices();
    const std::vector<Definition>& definitions = uses[f].definitions;
    if (definitions.size() == 1 && IsOpaque(definitions[0])) {
      if (target.cuda) return NoCodeForGpus(*uses[f].node);
      *function.mutable_opaque() = OpaqueCallsFor(definitions[0]);
      continue;
    }
    if (auto call = ChooseCall(definitions, choice)) {
      *function.mutable_library() = *std::move(call);
      continue;
    }
    function.set_symbol(absl::StrCat("k", generated.size()));
    function.set_checks_indices(!hash && Wraps(definitions));  // hashes are no indices
    generated.push_back(KernelOf(function, uses[f]));
    if (!target.cuda) *function.mutable_splits() = SplitsOf(generated.back(), target.arithmetic);
  }
  program.set_target(target.cpu);
  program.clear_host_object();
  program.clear_ptx();
  if (generated.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> code = GenerateKernels(generated, target);
  if (!code.ok()) return code.status();
  *(target.cuda ? program.mutable_ptx() : program.mutable_host_object()) = *std::move(code);
  return absl::OkStatus();
}

}  // namespace yuba::kernels
