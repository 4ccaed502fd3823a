// yuba run: compiles a plan and runs it, in one go.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "compiler/import/stored_numbers.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/train/trainable.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"
#include "runtime/cuda/facts.h"
#include "tools/command.h"
#include "tools/make_plan.h"
#include "tools/program/build_program.h"
#include "tools/report/text_table.h"
#include "tools/run/predict_command.h"
#include "tools/run/ranks.h"
#include "tools/run/run_command.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

constexpr char kAsRanks[] = "auto";

struct RunCommandFlags {
  ModelFlags model;
  std::string plan;
  std::string devices;  // to plan again for: a number, or kAsRanks; empty: those of the plan
  RunFlags run;
  bool no_library = false;
  bool tf32 = false;
  std::string layouts = "auto";
  std::string joint_calls = "auto";
  bool no_verify = false;
};

// The ports that the program will have, so that files can be read before it is compiled.
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

void PromiseBytes(const PlannedModel& planned, RunFlags& run) {
  for (const search::EntryBytes& entry :
       search::BytesByEntry(planned.loaded.model.graph, planned.plan)) {
    run.planned_bytes[entry.name] = entry.bytes;
  }
}

// How many devices the run is for, as --devices says; 0: those of the plan.
absl::StatusOr<int> DevicesOf(const RunCommandFlags& flags, const runtime::Job* job) {
  if (flags.devices.empty()) return 0;
  if (flags.devices == kAsRanks) return job == nullptr ? 1 : job->size();
  int devices = 0;
  if (absl::SimpleAtoi(flags.devices, &devices) && devices >= 1 && devices <= kMostPlannedDevices)
    return devices;
  return UserError("--devices ", flags.devices, ": a number from 1 to ", kMostPlannedDevices,
                   ", or ", kAsRanks, ", as many as there are processes");
}

// The model with its plan, which is made again, as it was asked for, where there are other devices.
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

// The back end `model` needs neither values nor code.
absl::Status Predict(const RunCommandFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(const Machine machine, MachineToPredict(flags.run));
  YUBA_ASSIGN_OR_RETURN(const int devices, DevicesOf(flags, nullptr));
  YUBA_ASSIGN_OR_RETURN(const PlannedModel planned, LoadFor(flags, devices));
  kernels::KernelChoice choice;
  choice.library = !flags.no_library;
  choice.tf32 = flags.tf32;
  choice.order = kernels::MemoryOrderOf(flags.layouts);
  choice.joint_calls = kernels::JointCallsOf(flags.joint_calls);
  choice.code = false;
  choice.target = kernels::KernelTarget(*kernels::FindTarget(runtime::TargetOf(machine)));
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        BuildProgram(planned.loaded.model, planned.plan, choice, !flags.no_verify));
  RunFlags run = flags.run;
  PromiseBytes(planned, run);
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<runtime::LoadedProgram> loaded,
                        runtime::LoadedProgram::FromMessage(std::move(program)));
  return PredictProgram(*loaded, machine, run);
}

// For the machine that is there: for its GPUs, if it has any, and the newest code that all of them
// run. Without any the back end says so when it is opened.
kernels::KernelTarget TargetHere(const kernels::TargetFacts& facts) {
  kernels::KernelTarget target(facts);
  if (!facts.parallel) return target;
  const absl::StatusOr<std::vector<cuda::GpuFacts>> gpus = cuda::FindGpus();
  if (gpus.ok()) target.cpu = kernels::GpuProcessor(cuda::OldestOf(*gpus));
  return target;
}

// The program of the model and plan, the files that its run reads, and what the plan promises.
struct Prepared {
  std::shared_ptr<runtime::LoadedProgram> program;
  RunFiles files;
};

absl::StatusOr<Prepared> Prepare(const RunCommandFlags& flags, const runtime::Job* job,
                                 RunFlags& run) {
  YUBA_ASSIGN_OR_RETURN(const int devices, DevicesOf(flags, job));
  YUBA_ASSIGN_OR_RETURN(PlannedModel planned, LoadFor(flags, devices));
  YUBA_ASSIGN_OR_RETURN(RunFiles files,
                        ReadRunFiles(flags.run, PortsOfModel(planned.loaded.model)));
  if (!files.numbers.empty()) {
    ModelFlags model = flags.model;
    model.numbers = files.numbers;
    YUBA_ASSIGN_OR_RETURN(planned, LoadPlannedText(model, flags.plan, planned.text));
  }
  kernels::KernelChoice choice;
  choice.library = !flags.no_library;
  choice.tf32 = flags.tf32;
  choice.order = kernels::MemoryOrderOf(flags.layouts);
  choice.joint_calls = kernels::JointCallsOf(flags.joint_calls);
  if (const kernels::TargetFacts* target = kernels::FindTarget(flags.run.backend)) {
    choice.target = TargetHere(*target);
  }
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        BuildProgram(planned.loaded.model, planned.plan, choice, !flags.no_verify));
  PromiseBytes(planned, run);
  planned.loaded.model.values.clear();  // the program has them now
  Prepared prepared;
  YUBA_ASSIGN_OR_RETURN(prepared.program, runtime::LoadedProgram::FromMessage(std::move(program)));
  prepared.files = std::move(files);
  return prepared;
}

// Rank 0's program, where this is another rank: what is compiled once is the same everywhere.
absl::StatusOr<Prepared> TakeFromFirst(const RunFlags& run, runtime::Job& job) {
  YUBA_ASSIGN_OR_RETURN(const std::string bytes, job.FromFirst(""));
  program::Program program;
  if (!program.ParseFromString(bytes)) return InternalError("rank 0's program cannot be read");
  Prepared prepared;
  YUBA_ASSIGN_OR_RETURN(prepared.program, runtime::LoadedProgram::FromMessage(std::move(program)));
  YUBA_ASSIGN_OR_RETURN(prepared.files, ReadRunFiles(run, PortsOf(prepared.program->message())));
  return prepared;
}

absl::Status GiveToOthers(const program::Program& program, runtime::Job& job) {
  if (program.ByteSizeLong() > INT_MAX) {
    return UserError("the program has more than 2 GB of values in itself, which is more than ",
                     "rank 0 can give to the others: write it with yuba compile, and start ",
                     "yuba-run as ranks");
  }
  return job.FromFirst(program.SerializeAsString()).status();
}

absl::Status RunHere(const RunCommandFlags& flags, runtime::Job* job) {
  if (flags.run.backend == kModelBackend) return Predict(flags);
  RunFlags run = flags.run;
  Prepared prepared;
  if (job != nullptr && job->rank() > 0) {
    YUBA_ASSIGN_OR_RETURN(prepared, TakeFromFirst(run, *job));
    return RunProgram(prepared.program, run, std::move(prepared.files), job);
  }
  YUBA_ASSIGN_OR_RETURN(prepared, Prepare(flags, job, run));
  if (job != nullptr) {
    YUBA_RETURN_IF_ERROR(GiveToOthers(prepared.program->message(), *job));
  }
  return RunProgram(prepared.program, run, std::move(prepared.files), job);
}

// 0 where it cannot be said, as RunHere says why.
int DevicesWithoutJob(const RunCommandFlags& flags) {
  const absl::StatusOr<int> devices = DevicesOf(flags, nullptr);
  if (!devices.ok() || *devices > 0) return devices.value_or(0);
  const absl::StatusOr<std::string> text = ReadFile(flags.plan);
  if (!text.ok()) return 0;
  const absl::StatusOr<search::PlanFile> file = search::ReadPlan(*text);
  return file.ok() ? file->mesh.devices() : 0;
}

absl::Status Run(RunCommandFlags& flags) {
  return RunAsRank(
      "yuba run", flags.run, [&flags] { return DevicesWithoutJob(flags); },
      [&flags](runtime::Job* job) { return RunHere(flags, job); });
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<RunCommandFlags>();
  CLI::App* command = AddCommand(app, "run", "run a planned model on virtual devices or GPUs");
  AddPlannedModelFlags(command, flags->model);
  AddPlanFile(command, flags->plan);
  AddRunFlags(command, flags->run);
  command
      ->add_option("--devices", flags->devices,
                   "plan again for so many devices, as the plan was asked for; auto: as many as "
                   "there are processes; default: those of the plan")
      ->group("Machine");
  command->add_flag("--no-library", flags->no_library, "generated kernels only")->group("Machine");
  command
      ->add_flag("--tf32", flags->tf32,
                 "libraries of GPUs may round operands of f32 to 10 bits of mantissa")
      ->group("Machine");
  command
      ->add_option("--layouts", flags->layouts,
                   "in which order the dimensions of tensors lie in memory: channels-last, "
                   "channels innermost round convolutions; auto: for GPUs, round those of bf16, "
                   "f16 and TF32")
      ->check(CLI::IsMember(kernels::MemoryOrderNames()))
      ->group("Machine");
  command
      ->add_option("--joint-calls", flags->joint_calls,
                   "which products of GPUs are one library call with a bias's gradient, or with "
                   "GELU or its gradient: all, none; auto: of bf16 and f16, with a bias's gradient")
      ->check(CLI::IsMember(kernels::JointCallsNames()))
      ->group("Machine");
  command->add_flag("--no-verify", flags->no_verify, "do not prove the program before it runs")
      ->group("Diagnosis");
  OnRun(command, exit_code, [flags] { return Run(*flags); });
}

}  // namespace yuba::tools
