#include "tools/calibrate/measure_kernels.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/add_kernels.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/program/work.h"
#include "tools/calibrate/exchange_program.h"
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

// A map or reduction comes so often after the product before it.
constexpr int kTimes = 4;

// A map or reduction that comes after a product, and after others of its kind.
absl::StatusOr<program::Program> AfterProduct(const KernelCase& one, const std::string& backend) {
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        ProgramOf(Joined(ProductBefore(), one.graph), backend, true));
  const program::Instruction kernel = program.instructions(1);
  for (int i = 1; i < kTimes; ++i) *program.add_instructions() = kernel;
  return program;
}

// A kernel that takes a smaller part of the product before it does not show.
constexpr double kNoise = 0.02;

// Kernels that are timed in rounds together, with the product that comes before some of them.
constexpr size_t kTogether = 8;

class Measurer {
 public:
  Measurer(std::string backend, int devices) : backend_(std::move(backend)), devices_(devices) {}

  // Without effect where the library does not have the kernel.
  absl::Status Add(const KernelCase& one, bool library) {
    ProgressLine::Begin(one.name);
    YUBA_ASSIGN_OR_RETURN(program::Program program, ProgramOf(one.graph, backend_, library));
    const KernelWork work =
        program::WorkOn(program, MeshOf(1), program.instructions(0).kernel(), 0).kernel;
    if (library != work.library) return absl::OkStatus();  // measured in generated code
    const bool alone = HasLibrary(one.kernel_class);
    if (!alone) {
      YUBA_ASSIGN_OR_RETURN(program, AfterProduct(one, backend_));
    }
    YUBA_ASSIGN_OR_RETURN(TimedProgram timed,
                          TimedProgram::Open(OnDevices(program, devices_), backend_));
    waiting_.push_back({{one.name, work, 0}, alone});
    programs_.push_back(std::move(timed));
    return waiting_.size() < kTogether ? absl::OkStatus() : Measure();
  }

  // What was added and not yet measured.
  absl::Status Measure() {
    if (waiting_.empty()) return absl::OkStatus();
    YUBA_ASSIGN_OR_RETURN(const program::Program before,
                          ProgramOf(ProductBefore(), backend_, true));
    YUBA_ASSIGN_OR_RETURN(TimedProgram product,
                          TimedProgram::Open(OnDevices(before, devices_), backend_));
    programs_.push_back(std::move(product));
    YUBA_ASSIGN_OR_RETURN(const std::vector<Timing> timings, TimeInRounds(programs_));
    const double of_product = timings.back().seconds;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      KernelSample& sample = waiting_[i].sample;
      sample.seconds =
          waiting_[i].alone ? timings[i].seconds : (timings[i].seconds - of_product) / kTimes;
      if (sample.seconds < kNoise * of_product) continue;  // nothing was seen
      result_.samples.push_back(std::move(sample));
      result_.spreads.push_back(timings[i].spread);
    }
    waiting_.clear();
    programs_.clear();
    return absl::OkStatus();
  }

  MeasuredKernels& result() { return result_; }

 private:
  struct Waiting {
    KernelSample sample;  // without its time
    bool alone = false;   // not behind a product
  };
  const std::string backend_;
  const int devices_;
  std::vector<Waiting> waiting_;
  std::vector<TimedProgram> programs_;  // parallel to waiting_
  MeasuredKernels result_;
};

}  // namespace

absl::StatusOr<MeasuredKernels> MeasureKernels(const std::string& backend, int processors) {
  Measurer measurer(backend, processors);
  for (const bool library : {false, true}) {
    for (const KernelCase& one : KernelCases(MostOperations(backend, library))) {
      if (library && !HasLibrary(one.kernel_class)) continue;
      const absl::Status status = measurer.Add(one, library);
      if (!status.ok()) return Annotate(status, one.name);
    }
  }
  YUBA_RETURN_IF_ERROR(measurer.Measure());
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
