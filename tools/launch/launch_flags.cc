#include "tools/launch/launch_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/launcher.h"
#include "tools/command_line.h"

namespace yuba::tools {
namespace {

constexpr int kMostRanks = 1024;  // of --ranks too

}  // namespace

LaunchPart LaunchFlags::Part() const {
  if (folder.empty()) return LaunchPart::kWhole;
  if (lists_gpus) return LaunchPart::kGpus;
  return program_for > 0 ? LaunchPart::kProgram : LaunchPart::kRank;
}

void AddLaunchFlags(CLI::App* app, LaunchFlags& flags) {
  AddRunCommandFlags(app, flags.command);
  app->add_option("--devices", flags.devices,
                  "how many devices to begin with, each a process of this machine; the plan is "
                  "made again where it is for another number")
      ->check(WholeNumber(1, kMostRanks))
      ->required()
      ->group("Machine");
  app->add_option("--min-devices", flags.min_devices,
                  "go on with fewer devices, down to so many, where one cannot be used any more; "
                  "default: as many as --devices")
      ->check(WholeNumber(1, kMostRanks))
      ->group("Machine");
  constexpr char kHidden[] = "";
  app->add_option("--launch-folder", flags.folder)->group(kHidden);
  app->add_flag("--launch-goes-on", flags.goes_on)->group(kHidden);
  app->add_option("--launch-program", flags.program_for)
      ->check(WholeNumber(1, kMostRanks))
      ->group(kHidden);
  app->add_flag("--launch-ahead", flags.ahead)->group(kHidden);
  app->add_flag("--launch-gpus", flags.lists_gpus)->group(kHidden);
}

absl::Status CheckLaunchFlags(const LaunchFlags& flags) {
  const RunFlags& run = flags.command.run;
  if (flags.min_devices > flags.devices) {
    return UserError("--min-devices ", flags.min_devices, ": more than --devices ", flags.devices,
                     ", with which it begins: give at most as many");
  }
  if (run.ranks > 0) {
    return UserError("--ranks ", run.ranks, ": a launch starts a process for each of its devices, ",
                     "so --devices says it: leave --ranks away");
  }
  if (run.backend == kModelBackend) {
    return UserError("--backend ", run.backend, ": computes nothing, so nothing can be lost: use ",
                     "yuba run");
  }
  if (run.save.empty()) {
    return UserError("--save is missing: a launch goes on from its checkpoints, so name a file or ",
                     "folder for them, and with --save-every how often");
  }
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  YUBA_ASSIGN_OR_RETURN(const absl::optional<runtime::Launched> launched,
                        runtime::LaunchedBy(variable));
  if (!launched.has_value() || launched->size == 1) return absl::OkStatus();
  return UserError(launched->launcher, " has started ", launched->size, " processes of this ", "(",
                   launched->size_name, "), and a launch starts its own: use yuba run ",
                   "--devices auto --resume latest under ", launched->launcher);
}

RunFlags FlagsOfRank(const LaunchFlags& flags) {
  RunFlags run = flags.command.run;
  run.milestones = PipeIn(flags.folder);
  if (!flags.goes_on) return run;
  run.resume = run.save;
  run.overrides.clear();
  run.weights.clear();
  run.weights_prefix.clear();
  run.partial_weights = false;
  return run;
}

std::string ProgramIn(const std::string& folder, int devices) {
  return absl::StrCat(folder, "/", devices, ".yuba");
}
std::string PromiseIn(const std::string& folder, int devices) {
  return absl::StrCat(folder, "/", devices, ".json");
}
std::string PipeIn(const std::string& folder) { return absl::StrCat(folder, "/milestones"); }
std::string GpusIn(const std::string& folder) { return absl::StrCat(folder, "/gpus"); }

}  // namespace yuba::tools
