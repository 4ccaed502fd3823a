// Real models through all phases, every phase verified, on virtual devices with poisoned memory and
// instructions in any order: bit for bit what one device computes, in hash arithmetic.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "compiler/phases.h"
#include "opsemantics/language/library.h"
#include "runtime/session.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

const OperatorLibrary& Library() {
  static const OperatorLibrary* const library = new OperatorLibrary(*OperatorLibrary::BuiltIn());
  return *library;
}

program::Program Compile(const std::string& name, int devices, bool copies) {
  Compilation compilation;
  compilation.request.model_file = "tests/models/" + name + "/model.onnx";
  compilation.request.import.library = &Library();
  compilation.request.search.mesh = MeshOf(devices);
  compilation.request.search.copies = copies;
  compilation.request.kernels.target.arithmetic = Arithmetic::kHash;
  const absl::Status status = RunPhases(PhaseOptions(), compilation);
  REQUIRE_THAT(status, IsOk());
  return std::move(compilation.program);
}

std::unique_ptr<runtime::Session> Open(program::Program program,
                                       const runtime::RunOptions& options) {
  auto loaded = runtime::LoadedProgram::FromMessage(std::move(program));
  REQUIRE_THAT(loaded, IsOk());
  auto session = runtime::Session::Open(*loaded, options);
  REQUIRE_THAT(session, IsOk());
  return *std::move(session);
}

void Step(runtime::Session& session) {
  const absl::Status status = session.Step();
  REQUIRE_THAT(status, IsOk());
}

// A program's outputs for values made up by position.
std::vector<std::string> HashOutputs(const program::Program& program, int seed) {
  runtime::RunOptions options;
  options.interleave = true;
  options.interleave_seed = seed;
  options.poison = options.guards = true;
  const auto session = Open(program, options);
  REQUIRE_THAT(session->Randomize(3), IsOk());
  Step(*session);
  std::vector<std::string> outputs;
  for (const program::Port& port : session->program().message().outputs()) {
    const auto output = session->Get(port.name());
    REQUIRE_THAT(output, IsOk());
    outputs.push_back(output->data);
  }
  return outputs;
}

TEST_CASE("models on six devices equal one device bit for bit in hash arithmetic") {
  for (const char* name : {"conv", "gpt", "lstm"}) {
    const std::vector<std::string> whole = HashOutputs(Compile(name, 1, false), 1);
    INFO(name);
    CHECK(HashOutputs(Compile(name, 6, false), 6) == whole);
    CHECK(HashOutputs(Compile(name, 6, true), 6) == whole);
  }
}

TEST_CASE("no order of the devices' instructions changes an answer") {
  for (const char* name : {"mlp", "conv", "encoder", "gpt", "lstm"}) {
    const std::vector<std::string> whole = HashOutputs(Compile(name, 1, false), 0);
    const program::Program program = Compile(name, 5, true);
    for (int seed = 0; seed < 100; ++seed) {
      INFO(name << ", seed " << seed);
      CHECK(HashOutputs(program, seed) == whole);
    }
  }
}

}  // namespace
}  // namespace yuba::compiler
