// yuba launch: starts a run as processes of this machine, and goes on where one is lost.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opsemantics/base/status.h"
#include "runtime/ranks/held_signals.h"
#include "runtime/ranks/own_folder.h"
#include "tools/command.h"
#include "tools/launch/gpus.h"
#include "tools/launch/launch_flags.h"
#include "tools/launch/launch_run.h"
#include "tools/launch/programs.h"
#include "tools/run/rank_output.h"
#include "tools/run/ranks.h"
#include "tools/run/run_command.h"
#include "tools/run/run_files.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

absl::Status LaunchWhole(const LaunchFlags& flags) {
  YUBA_RETURN_IF_ERROR(CheckLaunchFlags(flags));
  YUBA_ASSIGN_OR_RETURN(const std::vector<std::string> arguments, OwnArguments());
  const runtime::HeldSignals signals;
  const runtime::OwnFolder folder("yuba-launch");
  if (folder.path().empty()) {
    return UserError("no folder for the processes of a launch: ", folder.problem(), "; set TMPDIR");
  }
  return LaunchRun(flags, arguments, folder.path(), signals).Run();
}

absl::Status RunRank(const LaunchFlags& flags, RunFlags run, runtime::Job* job) {
  YUBA_ASSIGN_OR_RETURN(MadeProgram made,
                        ReadProgram(flags.folder, job == nullptr ? 1 : job->size()));
  run.planned_bytes = std::move(made.planned_bytes);
  YUBA_ASSIGN_OR_RETURN(RunFiles files, ReadRunFiles(run, PortsOf(made.program->message())));
  return RunProgram(made.program, run, std::move(files), job);
}

absl::Status Launch(const LaunchFlags& flags) {
  switch (flags.Part()) {
    case LaunchPart::kWhole: return LaunchWhole(flags);
    case LaunchPart::kGpus: return ListGpus(GpusIn(flags.folder));
    case LaunchPart::kProgram: {
      if (!flags.ahead) return MakeProgram(flags);
      const RankOutput silence(1, false);
      return absl::Status(MakeProgram(flags).code(), "");
    }
    case LaunchPart::kRank: break;
  }
  RunFlags run = FlagsOfRank(flags);
  const auto one = [] { return 1; };  // of itself a rank starts no others
  return RunAsRank("yuba launch", run, one,
                   [&](runtime::Job* job) { return RunRank(flags, run, job); });
}

}  // namespace

void AddLaunch(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<LaunchFlags>();
  CLI::App* command = AddCommand(
      app, "launch", "start a training as processes, and go on by itself where a device is lost");
  AddLaunchFlags(command, *flags);
  OnRun(command, exit_code, [flags] { return Launch(*flags); });
}

}  // namespace yuba::tools
