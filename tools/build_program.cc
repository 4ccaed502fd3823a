#include "tools/build_program.h"

#include "compiler/kernels/add_kernels.h"
#include "compiler/phases.h"
#include "opsemantics/base/status.h"
#include "tools/version.h"

namespace yuba::tools {

namespace {

absl::StatusOr<program::Program> Build(const compiler::Model& model, const search::Plan& plan,
                                       const kernels::KernelChoice& choice, const char* last_phase,
                                       bool verify) {
  compiler::Compilation compilation;
  compilation.request.kernels = choice;
  compilation.request.version = kVersion;
  compilation.model = model;
  compilation.plan = plan;
  compiler::PhaseOptions options;
  options.from = "spmd";
  options.to = last_phase;
  options.verify = verify;
  YUBA_RETURN_IF_ERROR(compiler::RunPhases(options, compilation));
  return std::move(compilation.program);
}

}  // namespace

absl::StatusOr<program::Program> BuildProgram(const compiler::Model& model,
                                              const search::Plan& plan,
                                              const kernels::KernelChoice& choice, bool verify) {
  return Build(model, plan, choice, "kernels", verify);
}

absl::StatusOr<program::Program> BuildWithoutKernels(const compiler::Model& model,
                                                     const search::Plan& plan,
                                                     const kernels::KernelChoice& choice,
                                                     bool verify) {
  return Build(model, plan, choice, "memory", verify);
}

search::Plan WholePlan(const Graph& graph) {
  search::Plan plan;
  plan.mesh = MeshOf(1);
  for (const Tensor& tensor : graph.tensors) {
    plan.tensors.push_back({std::vector<AxisList>(tensor.type.dims.size())});
  }
  for (const Node& node : graph.nodes) {
    plan.nodes.push_back({std::vector<AxisList>(node.definition->indices.size())});
  }
  return plan;
}

}  // namespace yuba::tools
