// The work that a program's file says its kernels have is that of their definitions.
#include "opsemantics/sharding/work.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/kernels/function_uses.h"
#include "compiler/phases.h"
#include "compiler/spmd/short_sums.h"
#include "opsemantics/language/library.h"
#include "runtime/program/tables.h"
#include "runtime/program/work.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

const OperatorLibrary& Library() {
  static const OperatorLibrary* const library = new OperatorLibrary(*OperatorLibrary::BuiltIn());
  return *library;
}

Compilation Compile(const std::string& name, int devices, bool trains) {
  Compilation compilation;
  compilation.request.model_file = "tests/models/" + name + "/model.onnx";
  compilation.request.import.library = &Library();
  if (trains) {
    compilation.request.import.train.emplace();
    compilation.request.import.train->optimizer = "adam";
    compilation.request.import.train->loss = "mse";
  }
  compilation.request.search.mesh = MeshOf(devices);
  compilation.request.kernels.code = false;
  const absl::Status status = RunPhases(PhaseOptions(), compilation);
  REQUIRE_THAT(status, IsOk());
  return compilation;
}

// The ranges of one definition's indices on a device.
std::vector<Interval> RangesOf(const program::FunctionDefinition& definition,
                               const program::Kernel& kernel, const Mesh& mesh, int device) {
  std::vector<Interval> ranges;
  for (const int index : definition.indices())
    ranges.push_back(program::IntervalOn(mesh, kernel.indices(index), device));
  return ranges;
}

bool IsInPlace(const program::Program& program, const program::Kernel& kernel) {
  for (const program::Access& operand : kernel.operands()) {
    if (program.buffers(operand.buffer()).offset() ==
        program.buffers(kernel.results(0).buffer()).offset())
      return true;
  }
  return false;
}

// A map in place takes elements one by one: its roots, or functions, are of one element alone.
void CheckExtras(const program::Program& program, const program::Kernel& kernel,
                 const KernelWork& work, const KernelWork& of_definition) {
  const auto count = [](const KernelWork& of, Extra extra) {
    return of.extras[static_cast<int>(extra)];
  };
  if (work.kernel_class != KernelClass::kMap || !IsInPlace(program, kernel)) {
    for (int e = 0; e < kExtras; ++e) CHECK(work.extras[e] == of_definition.extras[e]);
    return;
  }
  CHECK(count(work, Extra::kRun) >= count(of_definition, Extra::kRun));
  double all = 0, of_all = 0;
  for (const Extra extra : {Extra::kRoot, Extra::kFunction, Extra::kPower}) {
    all += count(work, extra);
    of_all += count(of_definition, extra);
  }
  CHECK(all == Approx(of_all));
  CHECK(count(work, Extra::kRoot) == 0);
}

void CheckWork(const Compilation& compilation) {
  const program::Program& program = compilation.program;
  const Mesh mesh = program::MeshOf(program);
  const absl::optional<ShortSums> sums = WithShortSums(compilation.model.graph);
  const Graph& graph = sums.has_value() ? sums->graph : compilation.model.graph;
  const std::vector<kernels::FunctionUse> uses = kernels::UsesOf(graph, program);
  CHECK(program::SaysItsWork(program));
  for (const program::Instruction& instruction : program.instructions()) {
    if (!instruction.has_kernel()) continue;
    const program::Kernel& kernel = instruction.kernel();
    const program::Function& function = program.functions(kernel.function());
    const std::vector<Definition>& definitions = uses[kernel.function()].definitions;
    for (int device = 0; device < mesh.devices(); ++device) {
      INFO(program::NodeNames(kernel) << " on device " << device);
      const program::Work work = program::WorkOn(program, mesh, kernel, device);
      double points = 0, operations = 0;
      for (size_t d = 0; d < definitions.size(); ++d) {
        const DefinitionWork of_one =
            WorkOf(definitions[d], RangesOf(function.definitions(d), kernel, mesh, device));
        points += of_one.points;
        operations += of_one.operations;
        if (definitions.size() > 1) continue;
        const KernelWork alone = of_one.Kernel(function.has_library());
        CHECK(work.kernel.kernel_class == alone.kernel_class);
        CHECK(work.kernel.type == alone.type);
        CHECK(work.kernel.library == alone.library);
        CHECK(work.kernel.bytes == alone.bytes);
        CHECK(work.kernel.results == alone.results);
        CheckExtras(program, kernel, work.kernel, alone);
      }
      CHECK(work.points == points);
      CHECK(work.kernel.operations == operations);
    }
  }
}

TEST_CASE("the work of a program's kernels is that of their definitions") {
  size_t number = 0;
  for (const char* name : {"mlp", "conv", "gpt", "encoder", "lstm", "moe", "decoder_cache"}) {
    for (const int devices : {1, 2, 3, 6, 8}) {
      if (!IsTried(number++, 2)) continue;
      INFO(name << " on " << devices << " devices");
      CheckWork(Compile(name, devices, false));
    }
  }
}

TEST_CASE("and in training, where constraints narrow what gradients run over") {
  for (const int devices : {2, 6}) {
    for (const char* name : {"mlp", "conv"}) {
      INFO(name << " on " << devices << " devices");
      CheckWork(Compile(name, devices, true));
    }
  }
}

}  // namespace
}  // namespace yuba::compiler
