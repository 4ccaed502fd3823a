#include "tools/program/predict_plan.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/model/policy.h"
#include "runtime/model/predict.h"
#include "runtime/program/program.h"
#include "tools/program/build_program.h"

namespace yuba::tools {
namespace {

int64_t Nanoseconds(double seconds) { return std::llround(1e9 * seconds); }

search::PredictedRun RunOf(const std::vector<runtime::Prediction>& of_policies) {
  const runtime::Prediction& as_run = of_policies[0];
  search::PredictedRun run;
  run.entry = as_run.entry;
  run.step = Nanoseconds(as_run.seconds);
  double kernels = 0;
  for (const double of_class : as_run.kinds.kernels) kernels += of_class;
  run.kernels = Nanoseconds(kernels);
  run.exchanges = Nanoseconds(as_run.kinds.exchanges);
  run.waiting = Nanoseconds(as_run.kinds.waiting);
  run.starting = Nanoseconds(as_run.kinds.starting);
  run.ordered = Nanoseconds(of_policies[1 % of_policies.size()].seconds);
  run.fast = Nanoseconds(of_policies[2 % of_policies.size()].seconds);
  return run;
}

// How often the entry runs in a step.
int64_t TimesOfEntry(const Graph& graph, const std::string& name) {
  for (const Entry& entry : graph.entries) {
    if (entry.name == name) return entry.times;
  }
  return 1;
}

// Predictions of each entry but `init`, in their order: [entry][policy].
absl::StatusOr<std::vector<std::vector<runtime::Prediction>>> Predict(
    program::Program program, const Machine& machine,
    const std::vector<runtime::RunPolicy>& policies) {
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<runtime::LoadedProgram> loaded,
                        runtime::LoadedProgram::FromMessage(std::move(program)));
  std::vector<std::vector<runtime::Prediction>> all;
  const std::vector<program::EntryRange>& entries = loaded->entries();
  for (int e = 0; e < static_cast<int>(entries.size()); ++e) {
    if (entries.size() > 1 && entries[e].name == program::kInitEntry) continue;
    all.emplace_back();
    for (const runtime::RunPolicy& policy : policies) {
      YUBA_ASSIGN_OR_RETURN(runtime::Prediction prediction,
                            runtime::PredictEntry(*loaded, e, machine, policy));
      all.back().push_back(std::move(prediction));
    }
  }
  return all;
}

}  // namespace

kernels::KernelChoice KernelsWithoutCode(const Machine* machine) {
  kernels::KernelChoice choice;
  choice.code = false;
  if (machine != nullptr) {
    choice.target = kernels::KernelTarget(*kernels::FindTarget(runtime::TargetOf(*machine)));
  }
  return choice;
}

absl::StatusOr<std::vector<search::PredictedRun>> PredictRuns(program::Program program,
                                                              const Machine& machine) {
  YUBA_ASSIGN_OR_RETURN(const auto predictions,
                        Predict(std::move(program), machine, runtime::PoliciesOn(machine)));
  std::vector<search::PredictedRun> runs;
  for (const auto& of_entry : predictions) runs.push_back(RunOf(of_entry));
  return runs;
}

absl::StatusOr<int64_t> PredictedStep(const compiler::Model& model, const search::Plan& plan) {
  const auto& machine = plan.space.objective.machine();
  YUBA_CHECK(machine != nullptr);
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        BuildProgram(model, plan, KernelsWithoutCode(machine.get()), false));
  YUBA_ASSIGN_OR_RETURN(const auto predictions,
                        Predict(std::move(program), *machine, {runtime::PolicyOn(*machine)}));
  int64_t sum = 0;
  for (const std::vector<runtime::Prediction>& of_entry : predictions) {
    sum += TimesOfEntry(model.graph, of_entry[0].entry) * Nanoseconds(of_entry[0].seconds);
  }
  return sum;
}

int64_t StepOf(const Graph& graph, const std::vector<search::PredictedRun>& runs) {
  int64_t sum = 0;
  for (const search::PredictedRun& run : runs) sum += TimesOfEntry(graph, run.entry) * run.step;
  return sum;
}

}  // namespace yuba::tools
