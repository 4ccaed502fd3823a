// cuDNN plans the convolutions of whole programs without a GPU: for A100, H100 and H200 as they are
// described, whole and cut, with their gradients. Which have no engine is known and said.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/phases.h"
#include "compiler/search_model.h"
#include "opsemantics/language/library.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/program/build_program.h"
#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cublas_lt_epilogue.h"
#include "runtime/cuda/library/cudnn_convolution.h"
#include "tests/runtime/cuda/described_gpus.h"
#include "tests/runtime/cuda/planning_driver.h"
#endif

namespace yuba::cuda {
namespace {

#ifdef YUBA_WITH_CUDA

struct Case {
  std::string model;  // of the zoo, or a file, which has none of what follows
  zoo::Sizes sizes;
  std::string optimizer, precision;
  kernels::MemoryOrder order = kernels::MemoryOrder::kRowMajor;
};

std::string NameOf(const Case& test) {
  return absl::StrCat(test.model, test.optimizer.empty() ? "" : " training", " ",
                      test.precision.empty() ? "f32" : test.precision,
                      test.order == kernels::MemoryOrder::kRowMajor ? "" : " channels-last");
}

kernels::KernelChoice ForGpus() {
  kernels::KernelChoice choice;
  choice.target = kernels::KernelTarget(*kernels::FindTarget("cuda"));
  choice.code = false;
  return choice;
}

std::shared_ptr<const runtime::LoadedProgram> ProgramOfFile(const std::string& file, int devices) {
  static const auto* const operators = new OperatorLibrary(*OperatorLibrary::BuiltIn());
  compiler::Compilation compilation;
  compilation.request.model_file = file;
  compilation.request.import.library = operators;
  compilation.request.search.mesh = MeshOf(devices);
  compilation.request.kernels = ForGpus();
  REQUIRE_THAT(compiler::RunPhases(compiler::PhaseOptions(), compilation), IsOk());
  auto result = runtime::LoadedProgram::FromMessage(std::move(compilation.program));
  REQUIRE_THAT(result, IsOk());
  return *result;
}

std::shared_ptr<const runtime::LoadedProgram> ProgramOf(const Case& test, int devices) {
  if (absl::EndsWith(test.model, ".onnx")) return ProgramOfFile(test.model, devices);
  const auto loaded = tools::BenchModelOf(test.model, test.sizes, test.optimizer, test.precision);
  REQUIRE_THAT(loaded, IsOk());
  search::SearchOptions options;
  options.mesh = MeshOf(devices);
  compiler::Model model = (*loaded)->model;
  const auto plan = compiler::SearchModel(options, model, nullptr);
  REQUIRE_THAT(plan, IsOk());
  kernels::KernelChoice choice = ForGpus();
  choice.order = test.order;
  auto program = tools::BuildProgram(model, *plan, choice, false);
  REQUIRE_THAT(program, IsOk());
  auto result = runtime::LoadedProgram::FromMessage(*std::move(program));
  REQUIRE_THAT(result, IsOk());
  return *result;
}

// What makes routines the same to the library.
std::string KeyOf(const CudnnRoutine& routine) {
  std::string key = absl::StrCat(routine.kind, " ", static_cast<int>(routine.type), " ",
                                 routine.tf32, routine.adds);
  const auto add = [&](const std::vector<int64_t>& numbers) {
    absl::StrAppend(&key, " [", absl::StrJoin(numbers, ","), "]");
  };
  for (const CudnnTensor& tensor : routine.tensors) {
    add(tensor.extents);
    add(tensor.strides);
    absl::StrAppend(&key, "@", tensor.alignment);
  }
  for (const auto* numbers : {&routine.strides, &routine.dilations, &routine.low, &routine.high})
    add(*numbers);
  if (routine.epilogue.has_value()) {
    const CudnnEpilogue& epilogue = *routine.epilogue;
    absl::StrAppend(&key, " epilogue ", epilogue.residual, epilogue.relu, "@",
                    epilogue.residual_alignment, "@", epilogue.bias_alignment);
  }
  return key;
}

// The calls of a program's devices, each once, and why some have no routine. `products`: those of
// matrices too, as far as they are convolutions.
void AddCalls(const runtime::LoadedProgram& program, std::map<std::string, CudnnCall>& calls,
              std::set<std::string>& lacking, bool products = false) {
  for (int i = 0; i < program.instructions().size(); ++i) {
    if (!program.instructions()[i].has_kernel()) continue;
    const program::Kernel& kernel = program.instructions()[i].kernel();
    const auto& function = program.message().functions(kernel.function());
    if (!function.has_library()) continue;
    const bool product = function.library().kind() == program::LibraryCall::CONTRACTION;
    for (int device = 0; device < program.devices(); ++device) {
      const runtime::LibraryShape shape = runtime::ShapeOf(program, kernel, device);
      if (shape.no_result || shape.no_terms) continue;
      if (product && (products ? !runtime::PointwiseOf(shape).has_value()
                               : PlanWithEpilogue(shape).has_value()))
        continue;  // one of cuBLAS's
      auto call = CudnnCallOf(
          {program, kernel, device, shape, std::vector<int64_t>(kernel.operands_size() + 1)});
      INFO(program.Describe(i));
      if (absl::IsUnimplemented(call.status())) {
        lacking.insert(std::string(call.status().message()));
        continue;
      }
      REQUIRE_THAT(call, IsOk());
      if (!call->geometry.no_terms) calls.emplace(KeyOf(call->routine), *std::move(call));
    }
  }
}

TEST_CASE("cuDNN plans every convolution for A100, H100 and H200, whole and cut") {
  const Cudnn* const library = PlanningCudnn();
  if (library == nullptr) return;
  std::vector<Case> cases = {
      {"wresnet", {{"layers", 50}, {"batch", 32}}, "", ""},
      {"wresnet", {{"layers", 50}, {"batch", 1}}, "", ""},
      {"wresnet", {{"layers", 50}, {"batch", 32}}, "adam", ""},
      {"wresnet", {{"layers", 50}, {"batch", 32}}, "adam", "bf16"},
      {"wresnet", {{"layers", 50}, {"batch", 32}}, "adam", "bf16", kernels::MemoryOrder::kAuto},
      {"wresnet", {{"layers", 50}, {"batch", 32}}, "", "", kernels::MemoryOrder::kChannelsLast},
      {"wresnet", {{"layers", 50}, {"width", 4}, {"batch", 8}}, "adam", ""},
      {"unet3d", {}, "adam", ""},
  };
  for (const char* name :
       {"conv", "light_squeezenet", "operators/conv_0", "operators/conv_1", "operators/conv_2",
        "operators/conv_defaults", "operators/conv_transpose_0", "operators/conv_transpose_1"}) {
    cases.push_back({absl::StrCat("tests/models/", name, "/model.onnx"), {}, "", ""});
  }
  size_t number = 0;
  for (const Case& test : cases) {
    std::map<std::string, CudnnCall> calls;
    std::set<std::string> lacking;
    for (const int devices : {1, 2, 8}) AddCalls(*ProgramOf(test, devices), calls, lacking);
    REQUIRE(!calls.empty());
    INFO(NameOf(test));
    // The one model here whose filters are cut by taps.
    if (absl::StrContains(test.model, "conv_2"))
      CHECK(lacking.size() == 1);
    else
      CHECK(absl::StrJoin(lacking, "\n") == "");
    for (const DescribedGpu& gpu : DescribedGpus()) {
      if (!IsTried(number++, 3)) continue;
      std::set<std::string> without;
      for (const auto& [key, call] : calls) {
        CudnnTarget target;
        target.library = library;
        target.description = gpu.description;
        const auto plan = CudnnPlan::Make(target, call.routine);
        if (!plan.ok()) without.insert(absl::StrCat(key, ": ", plan.status().message()));
      }
      INFO(gpu.name << ", " << calls.size() << " routines");
      CHECK(absl::StrJoin(without, "\n") == "");
    }
    ++number;  // the next case begins with another GPU
  }
}

// Bytes of the workspaces of a program's routines together, which are for copies of operands and
// results in the layout that engines compute in, for the most part.
int64_t Workspaces(const Cudnn& library, const std::string& description, const Case& test) {
  std::map<std::string, CudnnCall> calls;
  std::set<std::string> lacking;
  AddCalls(*ProgramOf(test, 1), calls, lacking);
  REQUIRE(!calls.empty());
  CudnnTarget target;
  target.library = &library;
  target.description = description;
  int64_t bytes = 0;
  for (const auto& [key, call] : calls) {
    const auto plan = CudnnPlan::Make(target, call.routine);
    INFO(key);
    REQUIRE_THAT(plan, IsOk());
    bytes += plan->workspace_bytes();
  }
  return bytes;
}

TEST_CASE("cuDNN copies less of bf16 with channels innermost, and more of f32") {
  const Cudnn* const library = PlanningCudnn();
  if (library == nullptr) return;
  constexpr auto kRowMajor = kernels::MemoryOrder::kRowMajor;
  const auto bytes = [&](const DescribedGpu& gpu, const std::string& optimizer,
                         const std::string& precision, kernels::MemoryOrder order) {
    const Case test = {"wresnet", {{"layers", 50}, {"batch", 32}}, optimizer, precision, order};
    return Workspaces(*library, gpu.description, test);
  };
  for (const DescribedGpu& gpu : DescribedGpus()) {
    INFO(gpu.name);
    CHECK(2 * bytes(gpu, "adam", "bf16", kernels::MemoryOrder::kAuto) <
          bytes(gpu, "adam", "bf16", kRowMajor));
    CHECK(bytes(gpu, "", "", kernels::MemoryOrder::kAuto) == bytes(gpu, "", "", kRowMajor));
    CHECK(bytes(gpu, "", "", kernels::MemoryOrder::kChannelsLast) >
          2 * bytes(gpu, "", "", kRowMajor));
  }
}

// With everything that can follow them: of a program at inference each has some of it.
TEST_CASE("cuDNN plans the convolutions of ResNet-50 with residual, bias and ReLU") {
  const Cudnn* const library = PlanningCudnn();
  if (library == nullptr) return;
  const Case test = {"wresnet", {{"layers", 50}, {"batch", 32}}, "", ""};
  std::map<std::string, CudnnCall> calls;
  std::set<std::string> lacking;
  for (const int devices : {1, 2, 8})
    AddCalls(*ProgramOf(test, devices), calls, lacking, /*products=*/true);
  CHECK(calls.size() > 40);
  for (const DescribedGpu& gpu : DescribedGpus()) {
    CudnnTarget target;
    target.library = library;
    target.description = gpu.description;
    std::set<std::string> without;
    for (const auto& [key, call] : calls) {
      for (const ElementType type :
           {ElementType::kF32, ElementType::kF16, ElementType::kBF16, ElementType::kF64}) {
        for (const bool residual : {false, true}) {
          CudnnRoutine routine = call.routine;
          routine.type = type;
          CudnnEpilogue& epilogue = routine.epilogue.emplace();
          epilogue.residual = epilogue.relu = residual;
          epilogue.residual_alignment = routine.tensors[kOutput].alignment;
          epilogue.bias_alignment = 16;
          const auto plan = CudnnPlan::Make(target, routine);
          if (!plan.ok())
            without.insert(absl::StrCat(KeyOf(routine), ": ", plan.status().message()));
        }
      }
    }
    INFO(gpu.name << ", " << calls.size() << " routines");
    CHECK(absl::StrJoin(without, "\n") == "");
  }
}

TEST_CASE("cuDNN plans convolutions and gradients in every type") {
  const Cudnn* const library = PlanningCudnn();
  if (library == nullptr) return;
  std::map<std::string, CudnnCall> calls;
  std::set<std::string> lacking;
  AddCalls(*ProgramOf({"wresnet", {{"layers", 26}, {"batch", 8}}, "adam", ""}, 1), calls, lacking);
  REQUIRE(!calls.empty());
  for (const DescribedGpu& gpu : DescribedGpus()) {
    CudnnTarget target;
    target.library = library;
    target.description = gpu.description;
    for (const auto& [type, tf32] :
         {std::pair(ElementType::kF32, true), std::pair(ElementType::kF16, false),
          std::pair(ElementType::kBF16, false), std::pair(ElementType::kF64, false)}) {
      for (const auto& [key, call] : calls) {
        CudnnRoutine routine = call.routine;
        routine.type = type;
        routine.tf32 = tf32;
        INFO(gpu.name << ": " << KeyOf(routine));
        CHECK_THAT(CudnnPlan::Make(target, routine), IsOk());
      }
    }
  }
}

#endif  // YUBA_WITH_CUDA

}  // namespace
}  // namespace yuba::cuda
