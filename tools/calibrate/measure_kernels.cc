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
#include "tools/calibrate/time_program.h"
#include "tools/program/build_program.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

// The most operations of a kernel that is run, so that none takes much longer than a tenth of a
// second.
double MostOperations(const std::string& backend, bool library) {
  if (backend == "host") return library ? 2.5e9 : 3e8;
  return library ? 1.2e12 : 2e10;
}

absl::StatusOr<program::Program> ProgramOf(const Graph& graph, const std::string& backend,
                                           bool library) {
  compiler::Model model;
  model.graph = graph;
  kernels::KernelChoice choice;
  choice.library = library;
  const kernels::TargetFacts* target = kernels::FindTarget(backend);
  YUBA_CHECK(target != nullptr) << "no target " << backend;
  choice.target = kernels::KernelTarget(*target);
  return BuildProgram(model, WholePlan(model.graph), choice, /*verify=*/false);
}

bool HasLibrary(KernelClass kernel_class) {
  return kernel_class == KernelClass::kProduct || kernel_class == KernelClass::kConvolution;
}

// Seconds of a map or reduction that comes after a product, and after others of its kind.
absl::StatusOr<Timing> TimeAfterProduct(const KernelCase& one, const std::string& backend,
                                        const Timing& product) {
  constexpr int kTimes = 4;
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        ProgramOf(Joined(ProductBefore(), one.graph), backend, true));
  const program::Instruction kernel = program.instructions(1);
  for (int i = 1; i < kTimes; ++i) *program.add_instructions() = kernel;
  YUBA_ASSIGN_OR_RETURN(const Timing both, TimeProgram(program, backend));
  return Timing{(both.seconds - product.seconds) / kTimes, both.spread};
}

// A kernel that takes a smaller part of the product before it does not show.
constexpr double kNoise = 0.02;

class Measurer {
 public:
  explicit Measurer(std::string backend) : backend_(std::move(backend)) {}

  absl::Status MeasureProduct() {
    YUBA_ASSIGN_OR_RETURN(const program::Program program,
                          ProgramOf(ProductBefore(), backend_, true));
    YUBA_ASSIGN_OR_RETURN(product_, TimeProgram(program, backend_));
    return absl::OkStatus();
  }

  absl::Status Measure(const KernelCase& one, bool library) {
    ProgressLine::Begin(one.name);
    YUBA_ASSIGN_OR_RETURN(const program::Program program, ProgramOf(one.graph, backend_, library));
    const KernelWork work =
        program::WorkOn(program, MeshOf(1), program.instructions(0).kernel(), 0).kernel;
    if (library != work.library) return absl::OkStatus();  // measured in generated code
    YUBA_ASSIGN_OR_RETURN(const Timing timing, HasLibrary(one.kernel_class)
                                                   ? TimeProgram(program, backend_)
                                                   : TimeAfterProduct(one, backend_, product_));
    if (timing.seconds < kNoise * product_.seconds) return absl::OkStatus();  // nothing was seen
    result_.samples.push_back({one.name, work, timing.seconds});
    result_.spreads.push_back(timing.spread);
    return absl::OkStatus();
  }

  MeasuredKernels& result() { return result_; }

 private:
  const std::string backend_;
  Timing product_;
  MeasuredKernels result_;
};

}  // namespace

absl::StatusOr<MeasuredKernels> MeasureKernels(const std::string& backend) {
  Measurer measurer(backend);
  YUBA_RETURN_IF_ERROR(measurer.MeasureProduct());
  for (const bool library : {false, true}) {
    for (const KernelCase& one : KernelCases(MostOperations(backend, library))) {
      if (library && !HasLibrary(one.kernel_class)) continue;
      const absl::Status status = measurer.Measure(one, library);
      if (!status.ok()) return Annotate(status, one.name);
    }
  }
  MeasuredKernels& measured = measurer.result();
  ProgressLine::End();
  // What no kernel goes below; the shortest has hardly any work.
  measured.launch = std::numeric_limits<double>::infinity();
  for (const KernelSample& sample : measured.samples) {
    measured.launch = std::min(measured.launch, 0.95 * sample.seconds);
  }
  return std::move(measured);
}

}  // namespace yuba::tools
