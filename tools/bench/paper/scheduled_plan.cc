#include "tools/bench/paper/scheduled_plan.h"

#include <chrono>
#include <utility>
#include <vector>

#include "compiler/search_model.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/machine_mesh.h"
#include "tools/flags/machine_defaults.h"
#include "tools/program/build_program.h"
#include "tools/program/predict_plan.h"

namespace yuba::tools {

search::SearchOptions AsPublished(const std::string& search,
                                  std::shared_ptr<const Machine> machine) {
  search::SearchOptions options;
  options.objective = search::Objective(search::ObjectiveKind::kBytes, std::move(machine));
  options.search = search;
  options.copies = true;
  return options;
}

search::SearchOptions OurDefault(const std::shared_ptr<const Machine>& machine) {
  search::SearchOptions options;
  FollowMachine(machine, options);
  options.copies = true;
  options.flat_too = true;
  return options;
}

absl::StatusOr<ScheduledPlan> Schedule(compiler::Model model, search::SearchOptions options,
                                       int devices) {
  const Machine& machine = *options.objective.machine();
  YUBA_ASSIGN_OR_RETURN(options.mesh,
                        MeshOfMachine(machine, devices > 0 ? devices : machine.devices()));
  const auto start = Clock::now();
  YUBA_ASSIGN_OR_RETURN(const search::Plan plan,
                        compiler::SearchModel(options, model, PredictedStep));
  ScheduledPlan row;
  row.search_seconds = SecondsSince(start);
  row.search = plan.search;
  row.bytes = plan.cost.bytes();
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        BuildProgram(model, plan, KernelsWithoutCode(&machine), false));
  row.arena = program.arena_size();
  YUBA_ASSIGN_OR_RETURN(const std::vector<search::PredictedRun> runs,
                        PredictRuns(std::move(program), machine));
  for (const search::PredictedRun& run : runs) {
    row.step += 1e-9 * static_cast<double>(run.step);
    row.kernels += 1e-9 * static_cast<double>(run.kernels);
  }
  return row;
}

}  // namespace yuba::tools
