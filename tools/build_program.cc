#include "tools/build_program.h"

#include "opsemantics/base/status.h"

namespace yuba {

absl::StatusOr<program::Program> BuildProgram(const Model& model, const Plan& plan,
                                              const KernelChoice& choice) {
  program::Program program = CutGraph(model, plan, choice.target.arithmetic);
  RecogniseCollectives(program);
  PlanMemory(program);
  YUBA_RETURN_IF_ERROR(AddKernels(model, choice, program));
  return program;
}

Plan WholePlan(const Graph& graph) {
  Plan plan;
  plan.mesh = MeshOf(1);
  for (const Tensor& tensor : graph.tensors) {
    plan.tensors.push_back({std::vector<AxisList>(tensor.type.dims.size())});
  }
  for (const Node& node : graph.nodes) {
    plan.nodes.push_back({std::vector<AxisList>(node.definition->indices.size())});
  }
  return plan;
}

}  // namespace yuba
