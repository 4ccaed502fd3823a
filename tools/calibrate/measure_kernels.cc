#include "tools/calibrate/measure_kernels.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/add_kernels.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/program/work.h"
#include "tools/build_program.h"
#include "tools/calibrate/time_program.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

// The most operations of a kernel that is run, so that none takes much longer than a tenth of a
// second.
double MostOperations(const std::string& backend, bool library) {
  if (backend == "host") return library ? 2.5e9 : 3e8;
  return library ? 1.2e12 : 2e10;
}

absl::StatusOr<program::Program> ProgramOf(const KernelCase& one, const std::string& backend,
                                           bool library) {
  compiler::Model model;
  model.graph = one.graph;
  kernels::KernelChoice choice;
  choice.library = library;
  const kernels::TargetFacts* target = kernels::FindTarget(backend);
  YUBA_CHECK(target != nullptr) << "no target " << backend;
  choice.target = kernels::KernelTarget(*target);
  return BuildProgram(model, WholePlan(model.graph), choice, /*verify=*/false);
}

absl::Status Measure(const KernelCase& one, const std::string& backend, bool library,
                     MeasuredKernels& measured) {
  ProgressLine::Begin(one.name);
  absl::StatusOr<program::Program> program = ProgramOf(one, backend, library);
  if (!program.ok()) return Annotate(program.status(), one.name);
  const KernelWork work =
      program::WorkOn(*program, MeshOf(1), program->instructions(0).kernel(), 0).kernel;
  if (library != work.library) return absl::OkStatus();  // measured in generated code
  const absl::StatusOr<Timing> timing = TimeProgram(*program, backend);
  if (!timing.ok()) return Annotate(timing.status(), one.name);
  measured.samples.push_back({one.name, work, timing->seconds});
  measured.spreads.push_back(timing->spread);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MeasuredKernels> MeasureKernels(const std::string& backend) {
  MeasuredKernels measured;
  for (const bool library : {false, true}) {
    for (const KernelCase& one : KernelCases(MostOperations(backend, library))) {
      const bool has_library = one.kernel_class == KernelClass::kProduct ||
                               one.kernel_class == KernelClass::kConvolution;
      if (library && !has_library) continue;
      YUBA_RETURN_IF_ERROR(Measure(one, backend, library, measured));
    }
  }
  ProgressLine::End();
  // What no kernel goes below; the shortest has hardly any work.
  measured.launch = std::numeric_limits<double>::infinity();
  for (const KernelSample& sample : measured.samples) {
    measured.launch = std::min(measured.launch, 0.95 * sample.seconds);
  }
  return measured;
}

}  // namespace yuba::tools
