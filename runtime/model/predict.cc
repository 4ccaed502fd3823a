#include "runtime/model/predict.h"

#include "opsemantics/base/status.h"
#include "runtime/model/make_steps.h"
#include "runtime/program/all_reduce.h"
#include "runtime/program/work.h"

namespace yuba::runtime {
namespace {

KindSeconds MeanOf(const StepList& list, const Simulation& simulation) {
  KindSeconds mean;
  for (int c = 0; c < list.classes(); ++c) {
    const double share = static_cast<double>(list.class_sizes[c]) / list.devices();
    const ClassTimes& times = simulation.classes[c];
    for (int k = 0; k < kKernelClasses; ++k) mean.kernels[k] += share * times.kernels[k];
    mean.exchanges += share * times.exchanges;
    mean.waiting += share * (times.waiting + simulation.seconds - times.kernels_end);
    mean.starting += share * times.starting;
  }
  return mean;
}

void CountMoved(const LoadedProgram& program, Prediction& prediction) {
  const StepList& list = prediction.list;
  double bytes = 0, messages = 0;
  for (const Step& step : list.steps) {
    if (!step.exchange) continue;
    const bool one_call = prediction.policy.sums != Sums::kOrdered &&
                          program::IsAllReduce(program.message(), step.instruction - 1);
    ++prediction.exchanges;
    if (!step.joins && !one_call) ++prediction.groups;
    for (int c = 0; c < list.classes(); ++c) {
      for (const Inflow& inflow : list.exchanges[step.row][c].inflows) {
        bytes += inflow.bytes * list.class_sizes[c];
        messages += inflow.messages * list.class_sizes[c];
      }
    }
  }
  prediction.bytes = static_cast<int64_t>(bytes);
  prediction.messages = static_cast<int64_t>(messages);
}

}  // namespace

std::string TargetOf(const Machine& machine) {
  return machine.device.processors > 0 ? "host" : "cuda";
}

absl::Status CheckPredictable(const LoadedProgram& program, const Machine& machine) {
  if (program.devices() > machine.devices()) {
    return UserError("the program is for ", program.devices(), " devices, and ", machine.name,
                     " has ", machine.devices(), ": plan for fewer, or name a larger machine");
  }
  const std::string& target = program.message().target();
  const std::string wanted = TargetOf(machine);
  if (!target.empty() && target != wanted) {
    return UserError("the program is compiled for the target ", target, ", and the devices of ",
                     machine.name, " need ", wanted, ": make it for ", wanted,
                     " (--backend of yuba run, --target of yuba compile)");
  }
  if (program.hash()) {
    return UserError("the program computes in hash arithmetic, of which no machine has times");
  }
  if (!program::SaysItsWork(program.message())) {
    return UserError("the program does not say what its kernels do: yuba ",
                     program.message().version(), " compiled it; compile it again");
  }
  return absl::OkStatus();
}

absl::StatusOr<Prediction> PredictEntry(const LoadedProgram& program, int entry,
                                        const Machine& machine, const RunPolicy& policy,
                                        const PredictOptions& options) {
  YUBA_RETURN_IF_ERROR(CheckPredictable(program, machine));
  Prediction prediction;
  prediction.entry = program.entries()[entry].name;
  prediction.policy = policy;
  prediction.list = MakeSteps(program, entry, machine, policy, options.classes);
  prediction.simulation = Simulate(prediction.list, machine, policy, options.events);
  prediction.seconds = prediction.simulation.seconds;
  prediction.kinds = MeanOf(prediction.list, prediction.simulation);
  CountMoved(program, prediction);
  return prediction;
}

absl::StatusOr<Prediction> PredictStep(const LoadedProgram& program, const Machine& machine,
                                       const RunPolicy& policy, const PredictOptions& options) {
  const std::vector<program::EntryRange>& entries = program.entries();
  int entry = 0;
  if (entries.size() > 1 && entries[0].name == program::kInitEntry) entry = 1;
  return PredictEntry(program, entry, machine, policy, options);
}

}  // namespace yuba::runtime
