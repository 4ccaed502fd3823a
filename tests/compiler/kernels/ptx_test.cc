// That the assembler of CUDA takes the PTX of all kinds of kernels. Needs ptxas, no GPU.
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "compiler/kernels/kernels.h"
#include "tests/compiler/kernels/gpu_kernels.h"
#include "tests/compiler/kernels/kernel_definitions.h"
#include "tests/compiler/kernels/ptxas.h"
#include "tests/support/status_matchers.h"

namespace yuba::kernels {
namespace {

namespace fs = std::filesystem;

// Of the definitions every `step`-th: ptxas takes its time.
void Assemble(const std::string& cpu, Arithmetic arithmetic, size_t step) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) {
    WARN("SKIP: no ptxas in PATH nor in /usr/local/cuda/bin");
    return;
  }
  std::vector<NamedKernel> named;
  size_t count = 0;
  for (const DefinitionGroup& group : KernelDefinitions()) {
    for (const Definition& definition : group.definitions) {
      if (count++ % step == 0)
        named.push_back(Alone(absl::StrCat("kernel_", named.size()), definition));
    }
  }
  KernelTarget target(*FindTarget("cuda"));
  target.cpu = cpu;
  target.arithmetic = arithmetic;
  if (const char* folder = std::getenv("YUBA_DUMP")) target.dump_dir = folder;
  const absl::StatusOr<std::string> ptx = GenerateKernels(named, target);
  REQUIRE_THAT(ptx, IsOk());
  CHECK(ptx->find(".version 8.0") != std::string::npos);
  CHECK(ptx->find(".target " + cpu) != std::string::npos);
  for (const NamedKernel& kernel : named)
    REQUIRE(ptx->find(absl::StrCat(".entry ", kernel.symbol, "(")) != std::string::npos);
  std::string folder = (fs::temp_directory_path() / "yuba-ptx-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  std::ofstream(folder + "/kernels.ptx") << *ptx;
  const std::string command = absl::StrCat(ptxas, " -O3 -arch=", cpu, " -o ", folder,
                                           "/kernels.cubin ", folder, "/kernels.ptx");
  CHECK(std::system(command.c_str()) == 0);
  fs::remove_all(folder);
}

TEST_CASE("ptxas takes all kernels for sm_80") { Assemble("sm_80", Arithmetic::kFloat, 1); }
TEST_CASE("ptxas takes all kernels for sm_90") { Assemble("sm_90", Arithmetic::kFloat, 5); }
TEST_CASE("ptxas takes all kernels in hash arithmetic") { Assemble("sm_80", Arithmetic::kHash, 5); }

Definition Typed(Definition definition, ElementType type) {
  for (TensorType& operand : definition.operands) operand.type = type;
  definition.result.type = type;
  return definition;
}

// Kernels with many elements in registers at a time.
std::vector<Definition> LargeTiles() {
  const Affine i = IndexAffine(0), j = IndexAffine(1);
  std::vector<Definition> definitions;
  for (const ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16,
                                 ElementType::kBF16, ElementType::kI64, ElementType::kBool}) {
    definitions.push_back(Typed(Map({4096, 4096}, {j, i}), type));
    definitions.back().body = Read(0, {j, i});
    if (!IsFloat(type)) continue;
    for (const int of_each : {1, 2, 4})
      definitions.push_back(SumOfTurned(4096, 4096, type, of_each));
    definitions.push_back(SumOfTurned(4096, 4096, type));
    definitions.back().body = Call(Function::kErf, {definitions.back().body});
  }
  definitions.push_back(SumOfTurned(4096, 4096, ElementType::kBF16, 2));
  definitions.back().result.type = ElementType::kF32;
  return definitions;
}

TEST_CASE("ptxas has registers for all elements of a tile") {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) {
    WARN("SKIP: no ptxas in PATH nor in /usr/local/cuda/bin");
    return;
  }
  const std::vector<Definition> definitions = LargeTiles();
  std::vector<NamedKernel> named;
  for (const Definition& definition : definitions) {
    named.push_back(Alone(absl::StrCat("kernel_", named.size()), definition));
    named.back().known = AllOf(named.back());
  }
  std::string folder = (fs::temp_directory_path() / "yuba-ptx-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  for (const std::string cpu : {"sm_80", "sm_90"}) {
    KernelTarget target(*FindTarget("cuda"));
    target.cpu = cpu;
    const absl::StatusOr<std::string> ptx = GenerateKernels(named, target);
    REQUIRE_THAT(ptx, IsOk());
    std::ofstream(folder + "/kernels.ptx") << *ptx;
    const std::string command =
        absl::StrCat(ptxas, " -O3 -v -arch=", cpu, " -o ", folder, "/kernels.cubin ", folder,
                     "/kernels.ptx 2> ", folder, "/report");
    REQUIRE(std::system(command.c_str()) == 0);
    std::ifstream report(folder + "/report");
    size_t kernels = 0;
    for (std::string line, which; std::getline(report, line);) {
      if (absl::StrContains(line, "Function properties for")) which = line;
      if (!absl::StrContains(line, "bytes stack frame")) continue;
      INFO(cpu << ": " << which);
      ++kernels;
      CHECK_THAT(line, Catch::Contains("0 bytes spill stores, 0 bytes spill loads"));
    }
    CHECK(kernels == named.size());
  }
  fs::remove_all(folder);
}

TEST_CASE("code for GPUs is for the newest processor that they run and that is known") {
  CHECK(GpuProcessor(80) == "sm_80");
  CHECK(GpuProcessor(88) == "sm_87");
  CHECK(GpuProcessor(90) == "sm_90");
  CHECK(GpuProcessor(121) == "sm_90");
  CHECK(GpuProcessor(75) == "sm_80");
  for (const int capability : {86, 87, 89})
    Assemble(GpuProcessor(capability), Arithmetic::kFloat, 50);
}

TEST_CASE("a missing device library is an error where a kernel needs it, and only there") {
  const char* before = std::getenv("CUDA_HOME");
  const std::string first_owner = before == nullptr ? "" : before;
  setenv("CUDA_HOME", "/nonexistent", 1);
  const KernelTarget target(*FindTarget("cuda"));
  const Definition& product = FindGroup("matrix products and maps").definitions[0];
  CHECK_THAT(GenerateKernels({Alone("kernel", product)}, target), IsOk());
  const Definition& exp =
      FindGroup("softmax and layer norm in pieces, indices as values, literals").definitions[0];
  const absl::StatusOr<std::string> ptx = GenerateKernels({Alone("kernel", exp)}, target);
  CHECK_THAT(ptx, StatusIs(absl::StatusCode::kInvalidArgument,
                           "a kernel calls __nv_expf of NVIDIA's device library, but there is no "
                           "/nonexistent/nvvm/libdevice/libdevice.10.bc; install"));
  if (before == nullptr)
    unsetenv("CUDA_HOME");
  else
    setenv("CUDA_HOME", first_owner.c_str(), 1);
}

TEST_CASE("an unknown processor is an error") {
  KernelTarget target;
  target.cpu = "z80";
  const Definition& definition = KernelDefinitions()[0].definitions[0];
  const absl::StatusOr<std::string> object = GenerateKernels({Alone("kernel", definition)}, target);
  CHECK_THAT(object, StatusIs(absl::StatusCode::kInvalidArgument, "unknown processor \"z80\""));
}

}  // namespace
}  // namespace yuba::kernels
