// The section of FSDP: Llama-3-8B in training by ZeRO-3 on eight devices, beside what was
// published.
#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/search_model.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "opsemantics/machine/machine_hash.h"
#include "opsemantics/machine/machine_mesh.h"
#include "runtime/model/predict.h"
#include "runtime/program/program.h"
#include "tools/bench/hgx/published.h"
#include "tools/bench/hgx/recomputation.h"
#include "tools/bench/hgx/sections.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/bench/paper/scheduled_plan.h"
#include "tools/program/build_program.h"
#include "tools/program/predict_plan.h"

namespace yuba::tools {
namespace {

constexpr int64_t kPublishedLayers = 32;

// hgx-h100 with the memory and the rate of what the published step ran on.
absl::StatusOr<Machine> AsMeasured() {
  YUBA_ASSIGN_OR_RETURN(Machine machine, FindMachine(absl::StrCat("hgx-h100@", kKernelSet)));
  machine.name += " with HBM2e at 500 W";
  machine.device.memory = static_cast<int64_t>(kPublishedMemory);
  machine.device.bandwidth = kPublishedBandwidth;
  machine.device.rates[ElementType::kBF16] = kPublishedRate;
  machine.hash = HashOf(machine);
  return machine;
}

absl::StatusOr<std::shared_ptr<runtime::LoadedProgram>> ProgramOf(
    int64_t layers, const std::shared_ptr<const Machine>& machine) {
  const zoo::Sizes sizes = {{"batch", kSequences * machine->devices()},
                            {"layers", layers},
                            {"sequence", kSequenceLength}};
  YUBA_ASSIGN_OR_RETURN(const auto loaded, BenchModelOf("llama3-8b", sizes, "adam", "bf16"));
  search::SearchOptions options = AsPublished("zero3", machine);
  YUBA_ASSIGN_OR_RETURN(options.mesh, MeshOfMachine(*machine, machine->devices()));
  compiler::Model model = loaded->model;
  YUBA_ASSIGN_OR_RETURN(const search::Plan plan, compiler::SearchModel(options, model, nullptr));
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        BuildProgram(model, plan, KernelsWithoutCode(machine.get()), false));
  return runtime::LoadedProgram::FromMessage(std::move(program));
}

absl::Status PrintRow(const Machine& machine, const runtime::LoadedProgram& program,
                      bool is_published) {
  YUBA_ASSIGN_OR_RETURN(const runtime::Prediction step,
                        runtime::PredictStep(program, machine, runtime::RanksPolicy()));
  const double again = RecomputationSeconds(program, machine, "layers.", kProductsAgain);
  const auto of_class = [&](KernelClass kernel_class) {
    return step.kinds.kernels[static_cast<int>(kernel_class)];
  };
  std::cout << absl::StreamFormat(
      "| %s | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %s |\n", machine.name,
      of_class(KernelClass::kProduct), of_class(KernelClass::kMap),
      of_class(KernelClass::kReduction), step.kinds.waiting, again, step.seconds + again,
      is_published
          ? absl::StrFormat("%+.1f %%", 100 * ((step.seconds + again) / kPublishedStep - 1))
          : "–");
  return absl::OkStatus();
}

}  // namespace

absl::Status PrintFsdp(int64_t layers) {
  YUBA_ASSIGN_OR_RETURN(Machine measured, AsMeasured());
  YUBA_ASSIGN_OR_RETURN(const Machine plain, FindMachine(absl::StrCat("hgx-h100@", kKernelSet)));
  const auto machine = std::make_shared<const Machine>(std::move(measured));
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<runtime::LoadedProgram> program,
                        ProgramOf(layers, machine));
  std::cout << "\n## Llama-3-8B by ZeRO-3\n\n"
            << absl::StreamFormat(
                   "%d layers, %d sequences of %d tokens on each of 8 devices, adam, --precision "
                   "bf16. Published: %.3f s. Seconds of a device; \"again\" is what selective "
                   "checkpointing computes again, which Yuba does not do.\n\n",
                   layers, kSequences, kSequenceLength, kPublishedStep)
            << "| machine | products | maps | reductions | waiting | again | step and again | "
               "against published |\n|---|---|---|---|---|---|---|---|\n";
  YUBA_RETURN_IF_ERROR(PrintRow(*machine, *program, layers == kPublishedLayers));
  return PrintRow(plain, *program, false);
}

}  // namespace yuba::tools
