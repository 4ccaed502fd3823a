#include "tools/program/predict_plan.h"

#include <cmath>
#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/model/predict.h"
#include "runtime/program/program.h"
#include "tools/program/build_program.h"

namespace yuba::tools {
namespace {

int64_t Nanoseconds(double seconds) { return std::llround(1e9 * seconds); }

search::PredictedRun RunOf(const runtime::Prediction& today, const runtime::Prediction& enqueuing) {
  search::PredictedRun run;
  run.entry = today.entry;
  run.step = Nanoseconds(today.seconds);
  double kernels = 0;
  for (const double of_class : today.kinds.kernels) kernels += of_class;
  run.kernels = Nanoseconds(kernels);
  run.exchanges = Nanoseconds(today.kinds.exchanges);
  run.waiting = Nanoseconds(today.kinds.waiting);
  run.starting = Nanoseconds(today.kinds.starting);
  run.enqueued = Nanoseconds(enqueuing.seconds);
  return run;
}

// Of all runs, each entry as often as it runs.
int64_t SumOf(const Graph& graph, const std::vector<search::PredictedRun>& runs,
              int64_t search::PredictedRun::* seconds) {
  int64_t sum = 0;
  for (const search::PredictedRun& run : runs) {
    int64_t times = 1;
    for (const Entry& entry : graph.entries) {
      if (entry.name == run.entry) times = entry.times;
    }
    sum += times * run.*seconds;
  }
  return sum;
}

absl::StatusOr<int64_t> Sum(const compiler::Model& model, const search::Plan& plan,
                            int64_t search::PredictedRun::* seconds) {
  const auto& machine = plan.space.objective.machine();
  YUBA_CHECK(machine != nullptr);
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        BuildProgram(model, plan, KernelsWithoutCode(machine.get()), false));
  YUBA_ASSIGN_OR_RETURN(const std::vector<search::PredictedRun> runs,
                        PredictRuns(std::move(program), *machine));
  return SumOf(model.graph, runs, seconds);
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
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<runtime::LoadedProgram> loaded,
                        runtime::LoadedProgram::FromMessage(std::move(program)));
  std::vector<search::PredictedRun> runs;
  const std::vector<program::EntryRange>& entries = loaded->entries();
  for (int e = 0; e < static_cast<int>(entries.size()); ++e) {
    if (entries.size() > 1 && entries[e].name == program::kInitEntry) continue;
    YUBA_ASSIGN_OR_RETURN(const runtime::Prediction today,
                          runtime::PredictEntry(*loaded, e, machine, runtime::TodaysPolicy()));
    YUBA_ASSIGN_OR_RETURN(const runtime::Prediction enqueuing,
                          runtime::PredictEntry(*loaded, e, machine, runtime::EnqueuingPolicy()));
    runs.push_back(RunOf(today, enqueuing));
  }
  return runs;
}

absl::StatusOr<int64_t> PredictedStep(const compiler::Model& model, const search::Plan& plan) {
  return Sum(model, plan, &search::PredictedRun::step);
}

absl::StatusOr<int64_t> EnqueuedStep(const compiler::Model& model, const search::Plan& plan) {
  return Sum(model, plan, &search::PredictedRun::enqueued);
}

int64_t StepOf(const Graph& graph, const std::vector<search::PredictedRun>& runs) {
  return SumOf(graph, runs, &search::PredictedRun::step);
}

}  // namespace yuba::tools
