// The compiler, phase by phase.
#ifndef YUBA_COMPILER_PHASES_H_
#define YUBA_COMPILER_PHASES_H_

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/compilation.h"

namespace yuba::compiler {

struct Phase {
  const char* name;
  const char* what;
  absl::Status (*run)(Compilation&);
  absl::Status (*verify)(Compilation&);  // what must hold after it; FailedPrecondition
};

// All phases, in order.
absl::Span<const Phase> Phases();

// Which phases run, and what is shown of them.
struct PhaseOptions {
  std::string from;             // the first to run; empty: the first of all
  std::string to;               // the last to run; empty: the last of all
  std::string dump_dir;         // not empty: the state after each phase is written there as text
                                // (it is made where it is missing),
                                // and a later `from` starts from what was written; empty: `from`
                                // starts from what the compilation holds
  bool verify = true;           // each phase's result
  std::ostream* log = nullptr;  // not null: a line a phase with its time
  // Asked before each phase, where there is one: false ends the run, as `to` would.
  std::function<absl::StatusOr<bool>(const Phase&)> go_on;
};

// Runs the phases. Errors name the phase; a verifier that fails is an error of ours (Internal).
absl::Status RunPhases(const PhaseOptions& options, Compilation& compilation);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_PHASES_H_
