// What a compiled program takes on a machine, without running it: the same list of instructions,
// the same exchanges and waits, with clocks in place of work. Nothing is computed, so there are no
// values, and neither devices nor code of the program are needed.
//
//   absl::StatusOr<Prediction> step = PredictStep(*program, machine, PolicyOn(machine));
//   step->seconds   // from the first instruction to the last, on all devices
#ifndef YUBA_RUNTIME_MODEL_PREDICT_H_
#define YUBA_RUNTIME_MODEL_PREDICT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "opsemantics/machine/machine.h"
#include "runtime/model/policy.h"
#include "runtime/model/simulate.h"
#include "runtime/model/steps.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// Seconds of a device, as a mean over all devices: kernels, waiting and starting are together the
// step, and exchanges too where they have no stream of their own.
struct KindSeconds {
  double kernels[kKernelClasses] = {0, 0, 0, 0};  // by class of kernel
  double exchanges = 0;                           // copying and combining
  double waiting = 0;                             // for other devices
  double starting = 0;                            // for the host that starts instructions
};

// One run of an entry of the program.
struct Prediction {
  std::string entry;
  RunPolicy policy;
  double seconds = 0;
  KindSeconds kinds;
  int64_t bytes = 0;     // that devices receive from each other, all together
  int64_t messages = 0;  // in which they come
  // Exchanges, and how many of them begin at a time of their own: not those that join another one,
  // nor the gather of a sum that a library does in one call with it.
  int exchanges = 0, groups = 0;
  StepList list;
  Simulation simulation;  // with events where they were asked for
};

struct PredictOptions {
  bool events = false;  // keep what each class of devices does when
  bool classes = true;  // simulate devices that do the same once
};

// The target for which programs of this machine are compiled (program.proto): "host" or "cuda".
std::string TargetOf(const Machine& machine);

// The user's error where the program cannot be predicted on the machine: it is for more devices
// than the machine has or for another target, computes in hash arithmetic, or is of an older
// compiler and does not say its work.
absl::Status CheckPredictable(const LoadedProgram& program, const Machine& machine);

// A run of entry number `entry`. Errors are those of CheckPredictable.
absl::StatusOr<Prediction> PredictEntry(const LoadedProgram& program, int entry,
                                        const Machine& machine, const RunPolicy& policy,
                                        const PredictOptions& options = {});

// Of the entry that Session::Step runs when none is named: the first one but `init`.
absl::StatusOr<Prediction> PredictStep(const LoadedProgram& program, const Machine& machine,
                                       const RunPolicy& policy, const PredictOptions& options = {});

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_PREDICT_H_
