#include "tests/compiler/cases/partitioned_case.h"

#include "compiler/layout/channels_last.h"
#include "compiler/phases.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/status.h"
#include "runtime/session.h"
#include "tests/compiler/support/random_orders.h"
#include "tests/compiler/support/small_graphs.h"

namespace yuba::compiler {
namespace {

absl::StatusOr<program::Program> Compile(const Model& model, const Partitioning& partitioning) {
  Compilation compilation;
  compilation.model = model;
  compilation.request.search.mesh = MeshOf(partitioning.devices);
  Random random(partitioning.devices);
  PhaseOptions options;
  if (partitioning.search) {
    options.from = "search";
    options.to = "layouts";
    YUBA_RETURN_IF_ERROR(RunPhases(options, compilation));
  } else {
    compilation.plan = RandomPlan(model.graph, compilation.request.search.mesh, random);
  }
  if (partitioning.shuffle) {
    const DimOrders orders = RandomOrders(compilation.model.graph, random);
    compilation.layouts = OrderTensors(orders, compilation.model, compilation.plan);
  }
  options.from = "spmd";
  options.to = "";
  YUBA_RETURN_IF_ERROR(RunPhases(options, compilation));
  return std::move(compilation.program);
}

}  // namespace

absl::StatusOr<std::vector<TensorValue>> RunCasePartitioned(const OnnxCase& onnx_case,
                                                            const Partitioning& partitioning) {
  YUBA_ASSIGN_OR_RETURN(program::Program program, Compile(onnx_case.model, partitioning));
  YUBA_ASSIGN_OR_RETURN(const auto loaded, runtime::LoadedProgram::FromMessage(std::move(program)));
  runtime::RunOptions options;
  options.interleave = options.poison = options.guards = true;
  options.interleave_seed = partitioning.devices;
  YUBA_ASSIGN_OR_RETURN(const auto session, runtime::Session::Open(loaded, options));
  for (const std::string& name : session->Missing()) {
    const auto value = onnx_case.values.find(name);
    if (value == onnx_case.values.end()) return UserError("no value for ", name);
    const TensorType& type = value->second.type;
    YUBA_RETURN_IF_ERROR(session->Set(name, {type.type, type.dims, BytesFromValue(value->second)}));
  }
  YUBA_RETURN_IF_ERROR(session->Step());
  std::vector<TensorValue> outputs;
  for (const program::Port& port : session->program().message().outputs()) {
    YUBA_ASSIGN_OR_RETURN(const TensorData tensor, session->Get(port.name()));
    outputs.push_back(ValueFromBytes(tensor.type, tensor.dims, tensor.data));
  }
  return outputs;
}

}  // namespace yuba::compiler
