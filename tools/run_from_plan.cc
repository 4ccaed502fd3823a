#include "tools/run_from_plan.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <vector>

#include "absl/strings/str_format.h"
#include "compiler/import/stored_numbers.h"
#include "compiler/train/trainable.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"
#include "runtime/cuda/facts.h"
#include "tools/make_plan.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

// For the machine that is there: for its GPUs, if it has any, and the newest code that all of them
// run. Without any the back end says so when it is opened.
kernels::KernelTarget TargetHere(const kernels::TargetFacts& facts) {
  kernels::KernelTarget target(facts);
  if (!facts.parallel) return target;
  const absl::StatusOr<std::vector<cuda::GpuFacts>> gpus = cuda::FindGpus();
  if (gpus.ok()) target.cpu = kernels::GpuProcessor(cuda::OldestOf(*gpus));
  return target;
}

}  // namespace

void AddRunCommandFlags(CLI::App* command, RunCommandFlags& flags) {
  AddPlannedModelFlags(command, flags.model);
  AddPlanFile(command, flags.plan);
  AddRunFlags(command, flags.run);
  AddKernelFlags(command, flags.kernels, "Machine");
  command->add_flag("--no-verify", flags.no_verify, "do not prove the program before it runs")
      ->group("Diagnosis");
}

absl::StatusOr<PlannedModel> LoadFor(const RunCommandFlags& flags, int devices) {
  if (devices == 0) return LoadPlanned(flags.model, flags.plan);
  YUBA_ASSIGN_OR_RETURN(const std::string text, ReadFile(flags.plan));
  const absl::StatusOr<search::PlanFile> file = search::ReadPlan(text);
  if (!file.ok()) return Annotate(file.status(), flags.plan);
  if (file->mesh.devices() == devices) return LoadPlanned(flags.model, flags.plan);
  YUBA_ASSIGN_OR_RETURN(PartitionFlags again, FlagsOfPlan(*file, flags.model, devices));
  absl::optional<InterruptNote> note;
  const absl::StatusOr<MadePlan> made = MakePlan(again, [] { return absl::OkStatus(); }, note);
  if (!made.ok()) {
    return Annotate(made.status(), absl::StrCat(flags.plan, ", for ", Counted(devices, "device")));
  }
  if (InterruptNote::Came()) return absl::CancelledError("interrupted while planning again");
  std::cerr << "note: " << flags.plan << " is for " << Counted(file->mesh.devices(), "device")
            << " and was made again for " << devices << ", in "
            << absl::StrFormat("%.1f s", made->seconds)
            << (file->space.pins.empty() ? "\n" : "; its pins, which name axes, are left out\n");
  return LoadPlannedText(flags.model, flags.plan, made->text);
}

RunPorts PortsOfModel(const compiler::Model& model) {
  RunPorts ports;
  const std::vector<Tensor>& tensors = model.graph.tensors;
  for (const Entry& entry : model.graph.entries) {
    ports.entries.push_back(entry.name);
    ports.times[entry.name] = entry.times;
  }
  for (const TensorId id : model.graph.inputs) {
    ports.inputs.push_back(tensors[id].name);
    ports.types[tensors[id].name] = {tensors[id].type.type, WholeDims(tensors[id]),
                                     tensors[id].batch_dim};
  }
  for (const TensorId id : model.graph.outputs) ports.outputs.push_back(OutputName(tensors[id]));
  ports.file_inputs = model.file_inputs;
  ports.file_outputs = model.file_outputs.empty() ? ports.outputs : model.file_outputs;
  ports.random = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return tensor.kind == TensorKind::kState && tensor.name == kSeedName;
  });
  ports.settings = model.training;
  ports.trainable = compiler::TrainableParameters(model);
  for (const compiler::TiedWeights& tie : model.ties) {
    program::Tie& of_program = ports.ties.emplace_back();
    of_program.set_tied(tie.tied);
    of_program.set_kept(tie.kept);
    of_program.set_transposed(tie.transposed);
  }
  ports.forms = model.forms;
  ports.numbers = onnx::StoredNumbers(model);
  ports.missing_parameters = model.missing_parameters;
  for (const auto& [id, value] : model.values) {
    ports.parameters.insert(tensors[id].name);
    ports.types[tensors[id].name] = {tensors[id].type.type, WholeDims(tensors[id])};
    if (value.kind == compiler::InitialValue::kMissing) ports.unset.push_back(tensors[id].name);
  }
  return ports;
}

std::map<std::string, int64_t> PromisedBytes(const PlannedModel& planned) {
  std::map<std::string, int64_t> promised;
  for (const search::EntryBytes& entry :
       search::BytesByEntry(planned.loaded.model.graph, planned.plan)) {
    promised[entry.name] = entry.bytes;
  }
  return promised;
}

kernels::KernelChoice ChoiceOf(const RunCommandFlags& flags) {
  kernels::KernelChoice choice = ChoiceOf(flags.kernels);
  const kernels::TargetFacts* const target = kernels::FindTarget(flags.run.backend);
  if (target != nullptr) choice.target = TargetHere(*target);
  return choice;
}

}  // namespace yuba::tools
