#include "tools/program/build_program.h"

#include "compiler/import/stored_numbers.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/phases.h"
#include "compiler/train/trainable.h"
#include "opsemantics/base/status.h"
#include "runtime/program/enums.h"
#include "tools/terminal/progress_line.h"
#include "tools/version.h"

namespace yuba::tools {

namespace {

compiler::Compilation Planned(const compiler::Model& model, const search::Plan& plan,
                              const kernels::KernelChoice& choice) {
  compiler::Compilation compilation;
  compilation.request.kernels = choice;
  compilation.request.version = kVersion;
  compilation.model = model;
  compilation.model.trainable = compiler::TrainableParameters(model);
  compilation.plan = plan;
  return compilation;
}

// Runs the phases from `first` to `last`.
absl::Status RunFrom(const char* first, const char* last, bool verify,
                     compiler::Compilation& compilation) {
  compiler::PhaseOptions options;
  options.from = first;
  options.to = last;
  options.verify = verify;
  options.go_on = [](const compiler::Phase& phase) -> absl::StatusOr<bool> {
    ProgressLine::Begin(absl::StrCat("phase ", phase.name));
    return true;
  };
  const absl::Status status = compiler::RunPhases(options, compilation);
  ProgressLine::End();
  return status;
}

// Who runs the program without the model is told what is part of its code.
void AddNumbers(const compiler::Model& model, program::Program& program) {
  for (const auto& [name, value] : onnx::StoredNumbers(model)) {
    program::CodeNumber& number = *program.add_code_numbers();
    number.set_name(name);
    number.set_type(ToProto(value.type));
    number.mutable_shape()->Assign(value.dims.begin(), value.dims.end());
    number.set_data(value.data);
  }
}

}  // namespace

absl::StatusOr<program::Program> BuildProgram(const compiler::Model& model,
                                              const search::Plan& plan,
                                              const kernels::KernelChoice& choice, bool verify) {
  compiler::Compilation compilation = Planned(model, plan, choice);
  YUBA_RETURN_IF_ERROR(RunFrom("layouts", "streams", verify, compilation));
  return std::move(compilation.program);
}

absl::StatusOr<WrittenProgram> WriteProgram(const compiler::Model& model, const search::Plan& plan,
                                            const kernels::KernelChoice& choice, bool verify,
                                            runtime::FileValues values, const std::string& file) {
  compiler::Compilation compilation = Planned(model, plan, choice);
  compilation.request.output_file = file;
  compilation.request.file_values = values;
  YUBA_RETURN_IF_ERROR(RunFrom("layouts", "streams", verify, compilation));
  AddNumbers(model, compilation.program);
  YUBA_RETURN_IF_ERROR(RunFrom("emit", "emit", verify, compilation));
  return WrittenProgram{std::move(compilation.program), compilation.file_bytes};
}

absl::StatusOr<program::Program> BuildWithoutKernels(const compiler::Model& model,
                                                     const search::Plan& plan,
                                                     const kernels::KernelChoice& choice,
                                                     bool verify) {
  compiler::Compilation compilation = Planned(model, plan, choice);
  YUBA_RETURN_IF_ERROR(RunFrom("layouts", "memory", verify, compilation));
  return std::move(compilation.program);
}

search::Plan WholePlan(const Graph& graph) {
  search::Plan plan;
  plan.mesh = MeshOf(1);
  for (const Tensor& tensor : graph.tensors) {
    plan.tensors.emplace_back(std::vector<AxisList>(tensor.type.dims.size()));
  }
  for (const Node& node : graph.nodes) {
    plan.nodes.emplace_back(std::vector<AxisList>(node.definition->indices.size()));
  }
  return plan;
}

}  // namespace yuba::tools
