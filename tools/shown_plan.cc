#include "tools/shown_plan.h"

#include <utility>

#include "compiler/kernels/add_kernels.h"
#include "compiler/memory/memory_use.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/flags/plan_options.h"
#include "tools/page/page.h"
#include "tools/program/build_program.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"

namespace yuba::tools {
namespace {

absl::StatusOr<ShownPlan> LoadPlanAlone(const std::string& path) {
  ShownPlan shown;
  YUBA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<search::PlanFile> plan = search::ReadPlan(text);
  if (!plan.ok()) return Annotate(plan.status(), path);
  shown.plan = *std::move(plan);
  YUBA_RETURN_IF_ERROR(Annotate(CheckOptions(shown.plan.notes), path));
  return shown;
}

// What is live at most where one device does all: bytes of slots.
absl::StatusOr<int64_t> WholeBytesLive(const PlannedModel& planned) {
  compiler::Model whole = planned.loaded.model;
  whole.graph = planned.whole;
  YUBA_ASSIGN_OR_RETURN(
      const program::Program program,
      BuildWithoutKernels(whole, WholePlan(whole.graph), kernels::KernelChoice(), false));
  return compiler::MeasureMemory(program).live_bound;
}

}  // namespace

absl::StatusOr<ShownPlan> LoadShown(const std::vector<std::string>& files,
                                    const std::vector<std::string>& operators) {
  if (files.size() == 1 && operators.empty()) return LoadPlanAlone(files[0]);
  if (files.size() == 1) {
    return UserError(
        "--operators describes operators of a model: name the model before the plan, "
        "or leave it out");
  }
  if (files.size() > 2) {
    return UserError("takes a plan, or a model and a plan; ", files.size(), " files are given");
  }
  ModelFlags model;
  model.file = files[0];
  model.operators = operators;
  YUBA_ASSIGN_OR_RETURN(PlannedModel planned, LoadPlanned(model, files[1]));
  YUBA_ASSIGN_OR_RETURN(
      const program::Program program,
      BuildWithoutKernels(planned.loaded.model, planned.plan, kernels::KernelChoice(), true));
  YUBA_ASSIGN_OR_RETURN(const int64_t whole, WholeBytesLive(planned));
  ArenaReport arena = ReportArena(planned.file, program, whole);
  return ShownPlan{std::move(planned.file), std::move(arena)};
}

std::string PageOf(const ShownPlan& shown) {
  return PlanPage(shown.plan, shown.arena.has_value() ? ArenaHtml(*shown.arena) : "");
}

nlohmann::ordered_json MemoryJson(const ShownPlan& shown) {
  using Json = nlohmann::ordered_json;
  Json devices = Json::array();
  for (const search::DeviceMemory& memory : shown.plan.notes.memory) {
    devices.push_back({{"peak", memory.peak},
                       {"arena", memory.arena},
                       {"unused", memory.arena - memory.peak},
                       {"at", memory.at}});
  }
  Json report = {{"fullest", FullestDevice(shown.plan)}, {"devices", devices}, {"arena", nullptr}};
  if (shown.arena.has_value()) report["arena"] = ArenaJson(*shown.arena);
  return report;
}

}  // namespace yuba::tools
