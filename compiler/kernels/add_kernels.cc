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
#include "compiler/spmd/tables.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/opaque.h"
#include "runtime/program/enums.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {
namespace {

// What a function computes, for which node, and whether a kernel that calls it writes over what it
// reads.
struct FunctionUse {
  Definition definition;
  const Node* node = nullptr;  // the last of them
  bool in_place = false;
};

// [function]. The program's kernels stand in the order of the graph's nodes, copies
// left out. Partials have the element type of their buffer, which is the accumulator's.
std::vector<FunctionUse> UsesOf(const Graph& graph, const program::Program& program) {
  std::vector<FunctionUse> uses(program.functions_size());
  const program::Stage& stage = program.stages(0);
  NodeId next = 0;
  for (const program::Instruction& instruction : stage.instructions()) {
    if (!instruction.has_kernel()) continue;
    const program::Kernel& kernel = instruction.kernel();
    while (next < static_cast<NodeId>(graph.nodes.size()) && IsCopy(graph, graph.nodes[next]))
      ++next;
    YUBA_CHECK(next < static_cast<NodeId>(graph.nodes.size())) << kernel.node();
    const Node& node = graph.nodes[next++];
    YUBA_CHECK(node.name == kernel.node()) << node.name << " and " << kernel.node();
    FunctionUse& use = uses[kernel.function()];
    use.node = &node;
    Definition& definition = use.definition;
    definition = compiler::ComputedBy(program.functions(kernel.function()), *node.definition);
    definition.result.type = FromProto(stage.buffers(kernel.result().buffer()).type());
    for (const program::Access& operand : kernel.operands()) {
      use.in_place |= operand.buffer() == kernel.result().buffer();
    }
  }
  return uses;
}

absl::optional<program::LibraryCall> ChooseCall(const Definition& definition,
                                                const KernelChoice& choice) {
  if (!choice.library || choice.target.arithmetic == Arithmetic::kHash) return absl::nullopt;
  if (IsOpaque(definition)) return absl::nullopt;
  LibraryFeatures features;
  features.convolutions = features.small_floats = !choice.target.cuda;
  return LibraryCallFor(definition, features);
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
  if (!ChooseCall(definition, choice)) return "loops";
  return choice.target.cuda ? "cublas" : "onednn";
}

absl::Status AddKernels(const compiler::Model& model, const KernelChoice& choice,
                        program::Program& program) {
  const KernelTarget& target = choice.target;
  const bool hash = target.arithmetic == Arithmetic::kHash;
  YUBA_CHECK(program.hash_arithmetic() == hash) << "memory was planned for another arithmetic";
  const std::vector<FunctionUse> uses = UsesOf(model.graph, program);
  std::vector<NamedDefinition> generated;
  for (int f = 0; f < program.functions_size(); ++f) {
    program::Function& function = *program.mutable_functions(f);
    function.clear_symbol();
    function.clear_library();
    function.clear_opaque();
    function.clear_splits();
    if (IsOpaque(uses[f].definition)) {
      if (target.cuda) return NoCodeForGpus(*uses[f].node);
      *function.mutable_opaque() = OpaqueCallsFor(uses[f].definition);
      continue;
    }
    if (auto call = ChooseCall(uses[f].definition, choice)) {
      *function.mutable_library() = *std::move(call);
      continue;
    }
    function.set_symbol(absl::StrCat("k", generated.size()));
    const Definition& definition = uses[f].definition;
    if (!target.cuda) *function.mutable_splits() = SplitsOf(definition, target.arithmetic);
    generated.push_back({function.symbol(), &definition, uses[f].in_place});
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
