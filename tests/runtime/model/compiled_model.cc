#include "tests/runtime/model/compiled_model.h"

#include <catch2/catch.hpp>
#include <utility>

#include "compiler/phases.h"
#include "opsemantics/language/library.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

const OperatorLibrary& Library() {
  static const OperatorLibrary* const library = new OperatorLibrary(*OperatorLibrary::BuiltIn());
  return *library;
}

}  // namespace

std::shared_ptr<const LoadedProgram> CompiledModel(const std::string& name, int devices,
                                                   bool any_target, const std::string& target) {
  return CompiledFile("tests/models/" + name + "/model.onnx", devices, any_target, target);
}

std::shared_ptr<const LoadedProgram> CompiledFile(const std::string& file, int devices,
                                                  bool any_target, const std::string& target) {
  compiler::Compilation compilation;
  compilation.request.model_file = file;
  compilation.request.import.library = &Library();
  compilation.request.search.mesh = MeshOf(devices);
  compilation.request.kernels.code = false;
  compilation.request.kernels.target = kernels::KernelTarget(*kernels::FindTarget(target));
  const absl::Status status = compiler::RunPhases(compiler::PhaseOptions(), compilation);
  REQUIRE_THAT(status, IsOk());
  if (any_target) compilation.program.clear_target();
  auto loaded = LoadedProgram::FromMessage(std::move(compilation.program));
  REQUIRE_THAT(loaded, IsOk());
  return *loaded;
}

}  // namespace yuba::runtime
