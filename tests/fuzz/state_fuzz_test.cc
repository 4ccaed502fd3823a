// The text of a compilation's state with changed words and bytes: read and checked, or refused with
// a reason; never a crash.
#include <catch2/catch.hpp>
#include <iostream>

#include "compiler/dump/state.h"
#include "compiler/memory/memory.h"
#include "compiler/phases.h"
#include "compiler/spmd/recognise.h"
#include "compiler/verify/check_memory.h"
#include "compiler/verify/coverage.h"
#include "compiler/verify/matches_graph.h"
#include "opsemantics/language/library.h"
#include "tests/support/command.h"
#include "tests/support/mutate.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

std::string Text(search::Replicate replicate) {
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  compiler::Compilation state;
  state.request.model_file = RepositoryFile("tests/models/conv/model.onnx");
  state.request.import.library = &library;
  state.request.search.mesh = MeshOf(4);
  state.request.search.copies = true;
  state.request.search.replicate = replicate;
  compiler::PhaseOptions options;
  options.to = "memory";
  REQUIRE_THAT(compiler::RunPhases(options, state), IsOk());
  return compiler::StateText(state);
}

void CheckMutants(const std::string& text) {
  const std::vector<std::string> words = {
      "[",      "]",       "(",           ")",           "{",          "}",   "\"",
      ":",      "%0",      "%1",          "/a",          "a(0 1",      "0:8", "d0",
      "+",      "true",    "\"add\"",     "\"sum\"",     "f32",        "i64", "memref",
      "tensor", "yuba.op", "yuba.output", "yuba.buffer", "yuba.kernel"};
  const uint64_t seed = Catch::rngSeed() * uint64_t{1000003};
  const compiler::Phase& memory = compiler::Phases()[7];
  REQUIRE(memory.name == std::string("memory"));
  int read = 0, sound = 0, believed = 0;
  for (int round = 0; round < 600; ++round) {
    Random random(seed + round);
    std::cerr << "state seed " << seed + round << "\r" << std::flush;
    const std::string mutant =
        Below(random, 3) > 0 ? MutateWords(text, words, random) : MutateBytes(text, random);
    compiler::Compilation state;
    const auto places = compiler::ParseState(mutant, "state.mlir", state);
    if (!places.ok()) {
      INFO("seed " << seed + round);
      CHECK(!places.status().message().empty());
      continue;
    }
    ++read;
    believed += compiler::CheckReadState(memory, *places, true, state).ok();
    if (state.program.stages_size() == 0) continue;
    const bool covered = compiler::CheckCoverage(state.program).ok();
    const bool faithful = compiler::CheckMatchesGraph(state.model.graph, state.program).ok();
    const bool placed = compiler::CheckMemory(state.program).ok();
    sound += covered && faithful && placed;
    if (state.plan.tensors.empty()) continue;
    compiler::RecogniseCollectives(state.program);
    compiler::PlanMemory(state.program);
    CHECK_THAT(compiler::CheckMemory(state.program), IsOk());
  }
  std::cerr << "state: " << read << " of 600 mutants were read, " << sound
            << " programs passed every check, " << believed << " were believed\n";
  CHECK(read < 600);
  CHECK(sound <= read);
  CHECK(believed <= sound);
}

TEST_CASE("mutants of a state never crash the reader or the checks") {
  CheckMutants(Text(search::Replicate::kNone));
}

TEST_CASE("mutants of a state with copies and unreduced sums never crash them either") {
  const std::string text = Text(search::Replicate::kAuto);
  CHECK(text.find("partials = true") != std::string::npos);
  CheckMutants(text);
}

}  // namespace
}  // namespace yuba
