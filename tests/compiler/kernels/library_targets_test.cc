// What targets call libraries for, and what stands beside the calls.
#include <catch2/catch.hpp>

#include "compiler/kernels/add_kernels.h"
#include "compiler/phases.h"
#include "opsemantics/language/library.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/support/status_matchers.h"

namespace yuba::kernels {
namespace {

KernelChoice For(const char* target) {
  KernelChoice choice;
  choice.target = KernelTarget(*FindTarget(target));
  choice.code = false;
  return choice;
}

TEST_CASE("a kernel's kind names the library, and the code in its place where there is some") {
  const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2);
  const Definition product = Define({4, 6, 5}, 2, Reducer::kSum, {{4, 5}, {5, 6}},
                                    Call(Function::kMul, {Read(0, {i, k}), Read(1, {k, j})}));
  CHECK(KernelKind(product, For("host")) == "onednn");
  CHECK(KernelKind(product, For("cuda")) == "cublaslt or loops");
  KernelChoice generated = For("cuda");
  generated.library = false;
  CHECK(KernelKind(product, generated) == "loops");
}

// The program of tests/models/conv, which has convolutions and products.
program::Program Compiled(const KernelChoice& choice) {
  static const auto* const library = new OperatorLibrary(*OperatorLibrary::BuiltIn());
  compiler::Compilation compilation;
  compilation.request.model_file = "tests/models/conv/model.onnx";
  compilation.request.import.library = library;
  compilation.request.search.mesh = MeshOf(2);
  compilation.request.kernels = choice;
  REQUIRE_THAT(compiler::RunPhases(compiler::PhaseOptions(), compilation), IsOk());
  return compilation.program;
}

TEST_CASE("code stands beside library calls of GPUs, and of no others") {
  for (const char* target : {"host", "cuda"}) {
    INFO(target);
    int products = 0, convolutions = 0;
    const program::Program program = Compiled(For(target));
    for (const program::Function& function : program.functions()) {
      if (!function.has_library()) continue;
      const bool product = function.library().kind() == program::LibraryCall::CONTRACTION;
      ++(product ? products : convolutions);
      CHECK(function.symbol().empty() == (target == std::string("host")));
      CHECK_FALSE(function.library().tf32());
    }
    CHECK(products > 0);
    CHECK(convolutions > 0);
  }
}

TEST_CASE("TF32 is of a program's calls where it is asked for, and of GPUs") {
  KernelChoice choice = For("cuda");
  choice.tf32 = true;
  const program::Program program = Compiled(choice);
  for (const program::Function& function : program.functions())
    CHECK(function.library().tf32() == function.has_library());
}

}  // namespace
}  // namespace yuba::kernels
