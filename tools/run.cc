// yuba run: compiles a plan and runs it, in one go.
#include <CLI/CLI.hpp>
#include <climits>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "compiler/kernels/add_kernels.h"
#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/program/build_program.h"
#include "tools/run/predict_command.h"
#include "tools/run/ranks.h"
#include "tools/run/run_command.h"
#include "tools/run_from_plan.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

constexpr char kAsRanks[] = "auto";

struct RunCommand : RunCommandFlags {
  std::string devices;  // to plan again for: a number, or kAsRanks; empty: those of the plan
};

// How many devices the run is for, as --devices says; 0: those of the plan.
absl::StatusOr<int> DevicesOf(const RunCommand& flags, const runtime::Job* job) {
  if (flags.devices.empty()) return 0;
  if (flags.devices == kAsRanks) return job == nullptr ? 1 : job->size();
  int devices = 0;
  if (absl::SimpleAtoi(flags.devices, &devices) && devices >= 1 && devices <= kMostPlannedDevices)
    return devices;
  return UserError("--devices ", flags.devices, ": a number from 1 to ", kMostPlannedDevices,
                   ", or ", kAsRanks, ", as many as there are processes");
}

// The back end `model` needs neither values nor code.
absl::Status Predict(const RunCommand& flags) {
  YUBA_ASSIGN_OR_RETURN(const Machine machine, MachineToPredict(flags.run));
  YUBA_ASSIGN_OR_RETURN(const int devices, DevicesOf(flags, nullptr));
  YUBA_ASSIGN_OR_RETURN(const PlannedModel planned, LoadFor(flags, devices));
  kernels::KernelChoice choice = ChoiceOf(flags);
  choice.code = false;
  choice.target = kernels::KernelTarget(*kernels::FindTarget(runtime::TargetOf(machine)));
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        BuildProgram(planned.loaded.model, planned.plan, choice, !flags.no_verify));
  RunFlags run = flags.run;
  run.planned_bytes = PromisedBytes(planned);
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<runtime::LoadedProgram> loaded,
                        runtime::LoadedProgram::FromMessage(std::move(program)));
  return PredictProgram(*loaded, machine, run);
}

// The program of the model and plan, the files that its run reads, and what the plan promises.
struct Prepared {
  std::shared_ptr<runtime::LoadedProgram> program;
  RunFiles files;
};

absl::StatusOr<Prepared> Prepare(const RunCommand& flags, const runtime::Job* job, RunFlags& run) {
  YUBA_ASSIGN_OR_RETURN(const int devices, DevicesOf(flags, job));
  YUBA_ASSIGN_OR_RETURN(PlannedModel planned, LoadFor(flags, devices));
  YUBA_ASSIGN_OR_RETURN(RunFiles files,
                        ReadRunFiles(flags.run, PortsOfModel(planned.loaded.model)));
  if (!files.numbers.empty()) {
    ModelFlags model = flags.model;
    model.numbers = files.numbers;
    YUBA_ASSIGN_OR_RETURN(planned, LoadPlannedText(model, flags.plan, planned.text));
  }
  YUBA_ASSIGN_OR_RETURN(program::Program program, BuildProgram(planned.loaded.model, planned.plan,
                                                               ChoiceOf(flags), !flags.no_verify));
  run.planned_bytes = PromisedBytes(planned);
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

absl::Status RunHere(const RunCommand& flags, runtime::Job* job) {
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
int DevicesWithoutJob(const RunCommand& flags) {
  const absl::StatusOr<int> devices = DevicesOf(flags, nullptr);
  if (!devices.ok() || *devices > 0) return devices.value_or(0);
  const absl::StatusOr<std::string> text = ReadFile(flags.plan);
  if (!text.ok()) return 0;
  const absl::StatusOr<search::PlanFile> file = search::ReadPlan(*text);
  return file.ok() ? file->mesh.devices() : 0;
}

absl::Status Run(RunCommand& flags) {
  return RunAsRank(
      "yuba run", flags.run, [&flags] { return DevicesWithoutJob(flags); },
      [&flags](runtime::Job* job) { return RunHere(flags, job); });
}

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<RunCommand>();
  CLI::App* command = AddCommand(app, "run", "run a planned model on virtual devices or GPUs");
  AddRunCommandFlags(command, *flags);
  command
      ->add_option("--devices", flags->devices,
                   "plan again for so many devices, as the plan was asked for; auto: as many as "
                   "there are processes; default: those of the plan")
      ->group("Machine");
  OnRun(command, exit_code, [flags] { return Run(*flags); });
}

}  // namespace yuba::tools
