// yuba compare: the plans of all searches and baselines of one model, side by side; or of one model
// on several machines.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/sharding/mesh_text.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/compare/candidates.h"
#include "tools/compare/compare_report.h"
#include "tools/compare/machine_rows.h"
#include "tools/flags/flag_rows.h"
#include "tools/flags/mesh_flags.h"
#include "tools/flags/space_flag.h"
#include "tools/interrupt.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

struct CompareFlags {
  ModelFlags model;
  MeshFlags mesh;
  std::vector<std::string> space;  // of which it takes copies=all or none
  double time_limit = 0;           // seconds, of each search; 0: none
  bool json = false;
  std::vector<std::string> machines;  // with commas between; empty: rows of searches
  int64_t steps = 0;                  // of a run; 0: nothing is said of hours and dollars
  double mtbf = 0;                    // hours; 0: no node is lost
  int64_t checkpoint_bandwidth = 0;   // bytes a second
  double checkpoint_interval = 0;     // hours; 0: the best
};

CLI::Validator Steps() { return WholeNumber(1, int64_t{1} << 50); }

constexpr FlagRow<CompareFlags> kRows[] = {
    {"space", &CompareFlags::space, "Space",
     "copies=all or copies=none, as in partition; of the default and the baselines"},
    {"time-limit", &CompareFlags::time_limit, "Search",
     "seconds; then each search ends with its best plan so far", NumberAbove0},
    {"json", &CompareFlags::json, "Output", "print JSON"},
    {"machines", &CompareFlags::machines, "Machines",
     "in place of searches: the default plan for each of these, as --machine takes them, with "
     "commas between",
     nullptr, "", "machine"},
    {"steps", &CompareFlags::steps, "Machines", "of a run: its hours and dollars are told", Steps,
     "machines"},
    {"mtbf", &CompareFlags::mtbf, "Machines",
     "hours between losses of a node on average; then checkpoints are counted", NumberAbove0,
     "machines"},
    {"checkpoint-bandwidth", &CompareFlags::checkpoint_bandwidth, "Machines",
     "bytes a second at which all devices together write one, as 20GB", SizeInBytes, "mtbf"},
    {"checkpoint-interval", &CompareFlags::checkpoint_interval, "Machines",
     "hours between checkpoints; default: the best interval", NumberAbove0, "mtbf"},
};

absl::Status CheckMachineFlags(const CompareFlags& flags) {
  if (!flags.mesh.groups.empty()) {
    return UserError("--mesh ", flags.mesh.groups, " names axes of one machine; with --machines ",
                     "give --devices, or none for all of each");
  }
  if (flags.mtbf > 0 && flags.checkpoint_bandwidth == 0) {
    return UserError("--mtbf needs --checkpoint-bandwidth: what a lost node costs depends on how ",
                     "long a checkpoint takes");
  }
  return absl::OkStatus();
}

absl::Status CompareMachines(const CompareFlags& flags, bool copies) {
  YUBA_RETURN_IF_ERROR(CheckMachineFlags(flags));
  std::vector<MeshOnMachine> machines;  // all are found before the first search
  for (const absl::string_view name :
       absl::StrSplit(absl::StrJoin(flags.machines, ","), ',', absl::SkipWhitespace())) {
    MeshFlags mesh = flags.mesh;
    mesh.machine = std::string(name);
    YUBA_ASSIGN_OR_RETURN(machines.emplace_back(), MeshOfFlags(mesh));
    if (machines.back().machine() == nullptr) {
      return UserError("--machines: \"", name, "\" has no times to compare");
    }
  }
  if (machines.empty())
    return UserError("--machines names no machine: give some, as in --machines hgx-h100,dgx-a100");
  YUBA_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(flags.model));
  const LongRun run = {static_cast<double>(flags.steps), flags.mtbf,
                       static_cast<double>(flags.checkpoint_bandwidth), flags.checkpoint_interval};
  const InterruptNote note("stopping with the rows so far; once more ends at once\n");
  std::vector<MachineRow> rows;
  for (const MeshOnMachine& on : machines) {
    if (InterruptNote::Came() && !rows.empty()) break;
    search::SearchOptions options;
    options.mesh = on.mesh;
    options.objective = search::Objective(search::ObjectiveKind::kTime, on.machine());
    options.time_limit = flags.time_limit;
    options.copies = copies;
    ProgressLine::Begin(on.machine()->name);
    YUBA_ASSIGN_OR_RETURN(const Candidate plan, TryDefault(loaded.model, options, ""));
    // Where its program cannot be predicted the objective's time is all that is known.
    const int64_t step = plan.step > 0 ? plan.step : plan.plan.time.all();
    rows.push_back(RowOf(plan, *on.machine(), static_cast<double>(step) * 1e-9, run));
  }
  ProgressLine::End();
  if (flags.json) {
    const nlohmann::ordered_json report = {{"model", BaseName(flags.model.file)},
                                           {"steps", flags.steps},
                                           {"interrupted", InterruptNote::Came()},
                                           {"machines", MachineRowsJson(rows)}};
    std::cout << report.dump(1) << "\n";
    return absl::OkStatus();
  }
  std::cout << BaseName(flags.model.file) << ", the plan of least time on each machine\n\n"
            << MachineRowsText(rows, run);
  if (InterruptNote::Came()) std::cout << "interrupted: other machines were not searched\n";
  return absl::OkStatus();
}

absl::Status Compare(const CompareFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(const SpaceWords space, ParseSpace(flags.space));
  if (space.dimensions != "default" || space.accumulators != search::Accumulators::kAuto ||
      !space.partials) {
    return UserError("--space ", absl::StrJoin(flags.space, ","),
                     ": compare shows searches in spaces of their own; it ",
                     "takes copies=all or copies=none");
  }
  if (!flags.machines.empty()) return CompareMachines(flags, space.copies);
  YUBA_ASSIGN_OR_RETURN(const MeshOnMachine on, MeshOfFlags(flags.mesh));
  const Mesh& mesh = on.mesh;
  YUBA_ASSIGN_OR_RETURN(const LoadedModel loaded, LoadModel(flags.model));
  search::SearchOptions options;
  options.mesh = mesh;
  if (on.machine() != nullptr) {
    options.objective = search::Objective(search::ObjectiveKind::kTime, on.machine());
  }
  options.time_limit = flags.time_limit;
  const InterruptNote note("stopping with the rows so far; once more ends at once\n");
  YUBA_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates,
                        TryAll(loaded.model, options, space.copies));
  ProgressLine::End();
  if (flags.json) {
    const nlohmann::ordered_json report = {{"model", BaseName(flags.model.file)},
                                           {"devices", mesh.devices()},
                                           {"mesh", MeshText(mesh)},
                                           {"interrupted", InterruptNote::Came()},
                                           {"plans", CompareJson(candidates)}};
    std::cout << report.dump(1) << "\n";
    return absl::OkStatus();
  }
  std::cout << BaseName(flags.model.file) << " on " << Counted(mesh.devices(), "device")
            << ", mesh " << MeshText(mesh) << "\n\n";
  std::cout << CompareText(candidates);
  if (InterruptNote::Came()) std::cout << "interrupted: other rows were not searched\n";
  return absl::OkStatus();
}

}  // namespace

void AddCompare(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* command =
      AddCommand(app, "compare", "plan with every search and baseline, and show them side by side");
  AddModelFlags(command, flags->model);
  AddMeshFlags(command, flags->mesh);
  AddRows<CompareFlags>(command, kRows, *flags);
  OnRun(command, exit_code, [flags] { return Compare(*flags); });
}

}  // namespace yuba::tools
