// Programs for GPUs say which kernels calls of attention stand for, and what only those use lies
// behind the arena.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/phases.h"
#include "opsemantics/base/files.h"
#include "opsemantics/language/library.h"
#include "runtime/program/check_attention.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/status_matchers.h"
#include "tools/zoo/zoo.h"

namespace yuba::compiler {
namespace {

struct Case {
  int devices = 1;
  const char* target = "cuda";
  absl::optional<ElementType> precision = ElementType::kBF16;
  bool library = true;
};

program::Program ProgramOf(const Case& test) {
  static const absl::StatusOr<OperatorLibrary> library = OperatorLibrary::BuiltIn();
  REQUIRE_THAT(library, IsOk());
  static int files = 0;
  const auto made = zoo::MakeModel("llama", {{"layers", 2},
                                             {"width", 64},
                                             {"heads", 4},
                                             {"kv-heads", 2},
                                             {"sequence", 64},
                                             {"batch", 4},
                                             {"vocab", 32},
                                             {"feed-forward", 96}});
  REQUIRE_THAT(made, IsOk());
  const std::string file = TemporaryFile(absl::StrCat("attention", files++, ".onnx"));
  REQUIRE_THAT(WriteFile(file, made->bytes), IsOk());
  Compilation compilation;
  compilation.request.model_file = file;
  compilation.request.import.library = &*library;
  onnx::TrainOptions train{"sgd", made->loss, "", {}};
  train.precision = test.precision;
  compilation.request.import.train = train;
  compilation.request.search.mesh = MeshOf(test.devices);
  compilation.request.kernels.target = kernels::KernelTarget(*kernels::FindTarget(test.target));
  compilation.request.kernels.library = test.library;
  compilation.request.kernels.code = false;
  REQUIRE_THAT(RunPhases(PhaseOptions(), compilation), IsOk());
  return std::move(compilation.program);
}

int64_t BytesOf(const program::Program& program, const std::string& what) {
  int64_t bytes = 0;
  for (const program::Buffer& buffer : program.buffers()) {
    const bool gathered = buffer.name().find("gather(") == 0;  // as a mask that is stored
    if (buffer.name().find(what) != std::string::npos && !gathered && !buffer.substitute())
      bytes += buffer.size();
  }
  return bytes;
}

TEST_CASE("calls stand for the kernels of attention, whose scores need no arena") {
  for (const int devices : {1, 2, 4}) {
    INFO(devices << " devices");
    const program::Program program = ProgramOf({devices});
    REQUIRE(program.attention_size() == 2);
    for (const program::Attention& attention : program.attention()) {
      CHECK(program::HasBackward(attention));
      CHECK(attention.forward_end() - attention.forward_begin() >= 3);
      CHECK(attention.backward_end() - attention.backward_begin() >= 5);
      CHECK(attention.causal());
      CHECK(attention.scale() == Approx(0.25));
      // The second call reads them, whatever kernels do.
      const std::vector<int> kept = program::KeptOf(program, attention);
      CHECK(kept.size() >= 5);
      for (const int id : kept) {
        INFO(program.buffers(id).name());
        CHECK(program.buffers(id).first() <= attention.forward_end() - 1);
        CHECK(program.buffers(id).last() >= attention.backward_end() - 1);
      }
    }
    CHECK(BytesOf(program, "Softmax") == 0);
    CHECK(BytesOf(program, "row_sums") > 0);
    CHECK(program.substitute_size() > 0);
    const program::Program kernels = ProgramOf({devices, "cuda", ElementType::kBF16, false});
    CHECK(kernels.attention_size() == 0);
    CHECK(program.arena_size() < kernels.arena_size());
  }
}

TEST_CASE("no calls stand for attention in f32, or on processors") {
  for (const Case& test : {Case{1, "cuda", absl::nullopt}, Case{2, "host"}}) {
    const program::Program program = ProgramOf(test);
    CHECK(program.attention_size() == 0);
    CHECK(program.substitute_size() == 0);
  }
}

}  // namespace
}  // namespace yuba::compiler
