// Whole programs for a GPU leave no large product to generated code, and no long reduction to a few
// blocks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/search_model.h"
#include "runtime/program/tables.h"
#include "runtime/program/thread_launch.h"
#include "runtime/program/work.h"
#include "tests/support/status_matchers.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/program/build_program.h"

namespace yuba::kernels {
namespace {

constexpr double kLargeProduct = 1e6;        // operations
constexpr int64_t kLongReduction = 1000000;  // terms
constexpr int64_t kMultiprocessors = 132;    // of an H100

// What there is to find in a program, as lines of text.
class Findings {
 public:
  explicit Findings(const program::Program& program)
      : program_(program), mesh_(program::MeshOf(program)) {
    for (const program::Instruction& instruction : program.instructions()) {
      if (!instruction.has_kernel()) continue;
      const program::Kernel& kernel = instruction.kernel();
      const program::Function& function = program.functions(kernel.function());
      if (function.has_library() || function.has_opaque()) continue;
      LookAtProducts(kernel, function);
      LookAtReductions(kernel, function);
    }
  }

  int reductions() const { return reductions_; }  // of many terms
  std::string text() const { return absl::StrJoin(lines_, "\n"); }

 private:
  void Add(const program::Function& function, const std::string& what) {
    std::string texts;
    for (const program::FunctionDefinition& each : function.definitions())
      absl::StrAppend(&texts, "; ", each.text());
    lines_.insert(what + texts);
  }

  void LookAtProducts(const program::Kernel& kernel, const program::Function& function) {
    const KernelWork work = program::WorkOn(program_, mesh_, kernel, 0).kernel;
    const bool product = work.kernel_class == KernelClass::kProduct ||
                         work.kernel_class == KernelClass::kConvolution;
    if (product && work.operations > kLargeProduct)
      Add(function, absl::StrCat(work.operations, " operations of a product are generated"));
  }

  void LookAtReductions(const program::Kernel& kernel, const program::Function& function) {
    int64_t blocks = 0, most = 0;
    for (const program::ThreadLaunch& launch : function.launches()) {
      blocks = (launch.beside() ? blocks : 0) + program::BlocksOf(mesh_, kernel, launch, 0);
      most = std::max(most, blocks);
    }
    int64_t terms = 0;
    for (const program::FunctionDefinition& each : function.definitions()) {
      // What takes the one term that data gives looks it up.
      if (each.reducer() == program::NONE || each.reducer() == program::PICK) continue;
      int64_t own = 1;
      for (const int index : each.indices())
        own *= program::IntervalOn(mesh_, kernel.indices(index), 0).size();
      terms = std::max(terms, own);
    }
    if (terms <= kLongReduction) return;
    ++reductions_;
    if (most < kMultiprocessors)
      Add(function, absl::StrCat("a reduction of ", terms, " terms on ", most, " blocks"));
  }

  const program::Program& program_;
  const Mesh mesh_;
  int reductions_ = 0;
  std::set<std::string> lines_;
};

struct Case {
  std::string model;  // of the zoo
  zoo::Sizes sizes;
  std::string optimizer, precision;
};

// The plan that users get.
search::Plan PlanFor(int devices, compiler::Model& model) {
  search::SearchOptions options;
  options.mesh = MeshOf(devices);
  options.copies = true;
  const auto plan = compiler::SearchModel(options, model, nullptr);
  REQUIRE_THAT(plan, IsOk());
  return *plan;
}

// On so many GPUs, without generated code.
int LongReductionsOf(const Case& test, int devices) {
  const auto loaded = tools::BenchModelOf(test.model, test.sizes, test.optimizer, test.precision);
  REQUIRE_THAT(loaded, IsOk());
  KernelChoice choice;
  choice.target = KernelTarget(*FindTarget("cuda"));
  choice.code = false;
  compiler::Model model = (*loaded)->model;
  const search::Plan plan = devices == 1 ? tools::WholePlan(model.graph) : PlanFor(devices, model);
  const auto program = tools::BuildProgram(model, plan, choice, /*verify=*/false);
  REQUIRE_THAT(program, IsOk());
  const Findings findings(*program);
  INFO(test.model << " " << test.optimizer << " " << test.precision << " on " << devices);
  CHECK(findings.text() == "");
  return findings.reductions();
}

TEST_CASE("programs leave no large product to generated code and no long reduction to few blocks") {
  const zoo::Sizes llama = {{"layers", 1},      {"width", 2048}, {"heads", 16},
                            {"sequence", 1024}, {"batch", 2},    {"vocab", 32000}};
  int reductions = 0;
  for (const Case& test :
       {Case{"gpt2", {{"batch", 4}, {"sequence", 128}, {"layers", 2}}, "", ""},
        Case{"gpt2", {{"batch", 4}, {"sequence", 128}, {"layers", 2}}, "adam", ""},
        Case{"llama", llama, "adam", "bf16"}, Case{"resnet-50", {{"batch", 32}}, "", ""},
        Case{"resnet-50", {{"batch", 32}}, "adam", ""},
        Case{"vit", {{"layers", 2}, {"batch", 32}}, "adam", "bf16"},
        Case{"bert", {{"layers", 2}}, "adam", ""}, Case{"unet3d", {}, "adam", ""},
        Case{"rnn", {}, "adam", ""}, Case{"dlrm", {}, "adam", ""}, Case{"moe", {}, "adam", ""},
        Case{"mlp", {}, "adam", ""}}) {
    reductions += LongReductionsOf(test, 1);
  }
  CHECK(reductions > 100);
  reductions = 0;
  // Few rows on a device; a vocabulary of unequal parts; gradients of 20 steps that are added up.
  const zoo::Sizes mixtral = {{"layers", 1}, {"batch", 1}, {"sequence", 512}, {"vocab", 8192}};
  for (const Case& test :
       {Case{"resnet-50", {{"batch", 8}}, "adam", ""},
        Case{"gpt2", {{"batch", 4}, {"sequence", 128}, {"layers", 1}}, "adam", "bf16"},
        Case{"moe", mixtral, "adam", "bf16"}, Case{"unet3d", {{"image", 64}}, "", ""},
        Case{"rnn", {{"layers", 2}, {"width", 512}}, "adam", ""}}) {
    reductions += LongReductionsOf(test, 2);
    reductions += LongReductionsOf(test, 8);
  }
  CHECK(reductions > 20);
}

}  // namespace
}  // namespace yuba::kernels
