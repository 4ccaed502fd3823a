// Real models through all phases, on virtual devices: PyTorch's answers in floats, and in hash arithmetic
// bit for bit what one device computes.
#include <catch2/catch.hpp>

#include "compiler/phases.h"
#include "opsemantics/library.h"
#include "runtime/session.h"

namespace yuba {
namespace {

const OperatorLibrary& Library() {
  static const OperatorLibrary* const library = new OperatorLibrary(*OperatorLibrary::BuiltIn());
  return *library;
}

program::Program Compile(const std::string& name, int devices, Arithmetic arithmetic) {
  Compilation compilation;
  compilation.request.model_file = "tests/models/" + name + "/model.onnx";
  compilation.request.import.library = &Library();
  compilation.request.search.mesh = MeshOf(devices);
  compilation.request.kernels.target.arithmetic = arithmetic;
  const absl::Status status = RunPhases(PhaseOptions(), compilation);
  INFO(status.message());
  REQUIRE(status.ok());
  return std::move(compilation.program);
}

std::unique_ptr<Session> Open(program::Program program, const RunOptions& options) {
  auto loaded = LoadedProgram::FromMessage(std::move(program));
  INFO(loaded.status().message());
  REQUIRE(loaded.ok());
  auto session = Session::Open(*loaded, options);
  INFO(session.status().message());
  REQUIRE(session.ok());
  return *std::move(session);
}

void Step(Session& session) {
  const absl::Status status = session.Step();
  INFO(status.message());
  REQUIRE(status.ok());
}

// The program's outputs for values made up by position.
std::vector<std::string> HashOutputs(const std::string& name, int devices) {
  RunOptions options;
  options.interleave = true;
  options.interleave_seed = devices;
  options.poison = options.guards = true;
  const auto session = Open(Compile(name, devices, Arithmetic::kHash), options);
  REQUIRE(session->Randomize(3).ok());
  Step(*session);
  std::vector<std::string> outputs;
  for (const program::Port& port : session->program().message().outputs()) {
    const auto output = session->Get(port.name());
    REQUIRE(output.ok());
    outputs.push_back(output->data);
  }
  return outputs;
}

TEST_CASE("models on several devices equal one device bit for bit in hash arithmetic") {
  for (const char* name : {"mlp", "conv", "gpt", "encoder", "lstm"}) {
    const std::vector<std::string> whole = HashOutputs(name, 1);
    for (int devices : {3, 8}) {
      INFO(name << " on " << devices);
      CHECK(HashOutputs(name, devices) == whole);
    }
  }
}

TEST_CASE("models on several devices give PyTorch's answers") {
  for (const char* name : {"mlp", "conv", "gpt", "encoder", "lstm"}) {
    for (int devices : {2, 8}) {
      INFO(name << " on " << devices);
      const auto session = Open(Compile(name, devices, Arithmetic::kFloat), RunOptions());
      const std::string data = std::string("tests/models/") + name + "/test_data_set_0/";
      const auto input = ReadTensorFile(data + "input_0.pb");
      const auto expected = ReadTensorFile(data + "output_0.pb");
      REQUIRE((input.ok() && expected.ok()));
      const program::Program& program = session->program().message();
      REQUIRE(session->Set(program.inputs(0).name(), *input).ok());
      Step(*session);
      const auto output = session->Get(program.outputs(0).name());
      REQUIRE(output.ok());
      REQUIRE(output->data.size() == expected->data.size());
      const float* got = reinterpret_cast<const float*>(output->data.data());
      const float* wanted = reinterpret_cast<const float*>(expected->data.data());
      for (size_t i = 0; i < output->data.size() / 4; ++i) {
        if (!(std::abs(got[i] - wanted[i]) <= 1e-5f * (1 + std::abs(wanted[i])))) {
          FAIL("element " << i << " is " << got[i] << " instead of " << wanted[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace yuba
