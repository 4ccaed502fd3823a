// Debugging of numbers, by an option of a run: which instruction was the first to make a NaN or an
// infinity. Every result is read after its instruction, so a step takes about as long again as
// reading all that it writes; without the option nothing is read.
//
// Infinities may be meant, as in masks. So nothing is said until a step leaves a NaN or an infinity
// in an output or a state, and instructions that made infinities in a step before, which left none,
// are not blamed for them.
#ifndef YUBA_RUNTIME_NAN_WATCH_H_
#define YUBA_RUNTIME_NAN_WATCH_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/base/element_type.h"
#include "runtime/executor.h"
#include "runtime/walk.h"

namespace yuba::runtime {

// What elements of floats hold.
struct Special {
  bool nan = false, infinity = false;
  bool any() const { return nan || infinity; }
};
// Of dense elements of the type; integers hold neither.
Special SpecialsIn(ElementType type, absl::string_view elements);

// Program, devices and plans must outlive the watcher. BeginStep and EndStep are called around each
// run of an entry, while no device runs.
class NanWatch : public Watcher {
 public:
  NanWatch(const LoadedProgram& program, ArenaLayout layout, std::vector<Device*> devices,
           const std::vector<ExchangePlan>& plans);

  void BeginStep();
  absl::Status Before(int device, int instruction) override;
  absl::Status After(int device, int instruction) override;
  // FailedPrecondition where an output or a state that the step wrote holds a NaN or an infinity.
  // It names that, and the first instruction in program order whose result held one, with its
  // device and definitions, or with the inputs or states in which it found one.
  absl::Status EndStep();

 private:
  struct Finding {
    Special result;
    // Buffers it read in which there was one already: of the device's first finding in the step.
    std::vector<int> operands;
  };

  // What a device's part of a buffer holds where the walks go, in the last buffer of each: the rest
  // may never have been written.
  absl::StatusOr<Special> SpecialsOf(int device, int buffer, const std::vector<BoxWalk>& walks);
  absl::Status LookAtExchange(int device, int instruction);
  absl::Status LookAtKernel(int device, int instruction);
  // The first instruction whose result held what `wanted` says, and its device; {-1, -1}: none did.
  std::pair<int, int> First(bool (*wanted)(const Special&)) const;
  absl::StatusOr<std::string> WhatIsLeft();
  std::string Text(int instruction, int device) const;

  const LoadedProgram& program_;
  const ArenaLayout layout_;
  const std::vector<Device*> devices_;
  const std::vector<ExchangePlan>& plans_;  // [instruction]
  std::vector<bool> stored_;                // [buffer]: an output or a state
  // [device][instruction]; each device's thread uses its own.
  std::vector<std::vector<Finding>> findings_;
  std::vector<char> found_any_;        // [device] in this step; no bits, which threads would share
  std::vector<bool> may_be_infinite_;  // [instruction] it was in a step that ended well
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_NAN_WATCH_H_
