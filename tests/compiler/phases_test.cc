// The phases one by one, stopped, dumped and started again.
#include "compiler/phases.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "compiler/dump/state.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/base/files.h"
#include "runtime/program/program.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

// A folder with what `import` would have written of a small model with values.
std::string Dump(const std::string& name) {
  const std::string dir = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
  REQUIRE_THAT(MakeFolder(dir), IsOk());
  ModelBuilder build;
  const TensorId x = build.Input({8, 6});
  const TensorId w = build.Input({6, 10}, TensorKind::kParameter);
  Compilation state;
  state.model = build.Finish({build.Relu(build.MatMul(x, w))});
  state.model.graph_hash = HashOfGraph(state.model.graph);
  state.model.values[w] = {InitialValue::kFill, std::make_shared<std::string>(4, '\0')};
  REQUIRE_THAT(WriteState(state, dir + "/0-import.mlir"), IsOk());
  REQUIRE_THAT(WriteValues(state.model, dir + "/values.bin"), IsOk());
  return dir;
}

Compilation Request(const std::string& output) {
  Compilation compilation;
  compilation.request.search.mesh = MeshOf(4);
  compilation.request.output_file = output;
  compilation.request.version = "1";
  return compilation;
}

absl::Status Run(const std::string& dir, const std::string& from, const std::string& to,
                 Compilation& compilation, std::ostream* log = nullptr) {
  PhaseOptions options;
  options.dump_dir = dir;
  options.from = from;
  options.to = to;
  options.log = log;
  return RunPhases(options, compilation);
}

TEST_CASE("starting again from any phase gives the same program") {
  const std::string dir = Dump("again");
  Compilation whole = Request(dir + "/whole.yuba");
  std::ostringstream log;
  const absl::Status status = Run(dir, "order", "", whole, &log);
  REQUIRE_THAT(status, IsOk());
  CHECK(log.str().find("recognise") != std::string::npos);
  const auto loaded = runtime::LoadedProgram::FromFile(dir + "/whole.yuba");
  REQUIRE_THAT(loaded, IsOk());
  CHECK((*loaded)->message().parameters(0).has_fill());
  for (const char* phase :
       {"cluster", "search", "attach", "spmd", "recognise", "memory", "kernels", "emit"}) {
    INFO(phase);
    const std::string file = dir + "/" + phase + ".yuba";
    Compilation again = Request(file);
    const absl::Status rerun = Run(dir, phase, "", again);
    REQUIRE_THAT(rerun, IsOk());
    CHECK(again.program.SerializeAsString() == whole.program.SerializeAsString());
    CHECK(*ReadFile(file) == *ReadFile(dir + "/whole.yuba"));
  }
}

TEST_CASE("a run may stop after any phase") {
  const std::string dir = Dump("stop");
  Compilation compilation = Request("");
  REQUIRE_THAT(Run(dir, "order", "spmd", compilation), IsOk());
  CHECK(compilation.program.stages(0).instructions_size() > 0);
  CHECK(compilation.program.stages(0).arena_size() == 0);
  CHECK_THAT(ReadFile(dir + "/6-recognise.mlir"),
             StatusIs(absl::StatusCode::kInvalidArgument, "No such file"));
  REQUIRE_THAT(Run(dir, "recognise", "memory", compilation), IsOk());
  CHECK(compilation.program.stages(0).arena_size() > 0);
}

TEST_CASE("mistakes in the choice of phases are explained") {
  using Catch::Matchers::Contains;
  Compilation compilation = Request("");
  const auto message = [&](const std::string& dir, const std::string& from, const std::string& to) {
    const absl::Status status = Run(dir, from, to, compilation);
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(status.message());
  };
  const std::string dir = Dump("mistakes");
  CHECK_THAT(message(dir, "cutting", ""),
             Contains("there is no phase cutting; there are import, "));
  CHECK_THAT(message(dir, "emit", "spmd"), Contains("comes after"));
  CHECK_THAT(message("", "spmd", ""), Contains("no plan for this graph yet"));
}

TEST_CASE("a dump that was changed by hand is refused by the verifier") {
  const std::string dir = Dump("changed");
  Compilation compilation = Request("");
  REQUIRE_THAT(Run(dir, "order", "spmd", compilation), IsOk());
  std::string text = *ReadFile(dir + "/5-spmd.mlir");
  const size_t at = text.find("yuba.kernel");
  REQUIRE(at != std::string::npos);
  const size_t indices = text.find("over [", at);
  REQUIRE(indices != std::string::npos);
  const size_t digit = text.find('(', indices);
  text[digit + 1] += 1;  // the first part begins at 1
  std::ofstream(dir + "/5-spmd.mlir") << text;
  for (const char* phase : {"recognise", "memory"}) {  // also by the phases after the next
    std::ofstream(dir + "/6-recognise.mlir") << text;
    const absl::Status status = Run(dir, phase, phase, compilation);
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, ".mlir:"));
    CHECK_THAT(status, Fails(": error: "));
  }
}

}  // namespace
}  // namespace yuba::compiler
