// ONNX's own backend tests, cut: every case whose operators are known is planned for several device
// counts, compiled, and run on virtual devices with poisoned memory and instructions in any order.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>

#include "compiler/import/constants.h"
#include "compiler/phases.h"
#include "opsemantics/base/status.h"
#include "runtime/session.h"
#include "tests/compiler/onnx_cases.h"
#include "tests/compiler/small_graphs.h"

namespace yuba {
namespace {

// The plan that the search finds for some devices, or any plan at all.
struct Cutting {
  int devices = 1;
  bool search = true;
};

absl::StatusOr<program::Program> Compile(const Model& model, const Cutting& cutting) {
  Compilation compilation;
  compilation.model = model;
  compilation.request.search.mesh = MeshOf(cutting.devices);
  PhaseOptions options;
  options.from = "search";
  if (!cutting.search) {
    Random random(cutting.devices);
    compilation.plan = RandomPlan(model.graph, compilation.request.search.mesh, random);
    options.from = "cut";
  }
  YUBA_RETURN_IF_ERROR(RunPhases(options, compilation));
  return std::move(compilation.program);
}

absl::StatusOr<std::vector<TensorValue>> RunCaseCut(const OnnxCase& onnx_case,
                                                    const Cutting& cutting) {
  YUBA_ASSIGN_OR_RETURN(program::Program program, Compile(onnx_case.model, cutting));
  YUBA_ASSIGN_OR_RETURN(const auto loaded, LoadedProgram::FromMessage(std::move(program)));
  RunOptions options;
  options.interleave = options.poison = options.guards = true;
  options.interleave_seed = cutting.devices;
  YUBA_ASSIGN_OR_RETURN(const auto session, Session::Open(loaded, options));
  for (const std::string& name : session->Missing()) {
    const auto value = onnx_case.values.find(name);
    if (value == onnx_case.values.end()) return UserError("no value for ", name);
    const TensorType& type = value->second.type;
    YUBA_RETURN_IF_ERROR(session->Set(name, {type.type, type.dims, BytesFromValue(value->second)}));
  }
  YUBA_RETURN_IF_ERROR(session->Step());
  std::vector<TensorValue> outputs;
  for (const program::Port& port : session->program().message().outputs()) {
    YUBA_ASSIGN_OR_RETURN(const HostTensor tensor, session->Get(port.name()));
    outputs.push_back(ValueFromBytes(tensor.type, tensor.shape, tensor.data));
  }
  return outputs;
}

void CheckCut(const Cutting& cutting) {
  if (!HasOnnxCases()) {
    WARN("SKIP: libonnx-testdata is not installed");
    return;
  }
  const auto cut = [&](const OnnxCase& onnx_case) { return RunCaseCut(onnx_case, cutting); };
  for (const char* group : {"simple", "pytorch-operator", "pytorch-converted", "node"}) {
    const CaseCount count = RunOnnxCases(group, cut);
    std::cout << cutting.devices << " devices, " << group << ": " << ToString(count) << "\n";
    CHECK(count.passed > 0);  // how many there are, the test of whole cases knows
  }
}

TEST_CASE("ONNX cases on 2 devices") { CheckCut({2}); }
TEST_CASE("ONNX cases on 3 devices") { CheckCut({3}); }
TEST_CASE("ONNX cases on 8 devices") { CheckCut({8}); }
TEST_CASE("ONNX cases on 6 devices by plans that nobody would choose") { CheckCut({6, false}); }

}  // namespace
}  // namespace yuba
