// The compiler, phase by phase. The table in phases.cc lists the phases in order, each with the
// function that runs it and the function that verifies what must hold after it. RunPhases runs a
// range of them over one Compilation, and can show its state after each.
//
// Example: a compilation whose request names a model file and a mesh, with {to: "search",
// dump_dir: "d"}, has a plan afterwards, and d/02-train.txt shows the graph with its gradients.
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
  const char* name;  // as --to and the dump files name it
  const char* what;  // one clause for people
  absl::Status (*run)(Compilation&);
  // Checks what must hold after the phase; FailedPrecondition where it does not. It changes nothing
  // but Plan::replayed.
  absl::Status (*verify)(Compilation&);
};

// All phases, in the order in which they run.
absl::Span<const Phase> Phases();

// Which phases run, and what is shown of them.
struct PhaseOptions {
  std::string from;  // name of the first phase to run; empty: the first of all. It starts from what
                     // the compilation holds.
  std::string to;    // name of the last phase to run; empty: the last of all
  // A folder, made where it is missing, into which the state after each phase is written as text
  // (dump/state.h). Empty: nothing is written.
  std::string dump_dir;
  bool verify = true;           // run the verifier of each phase that runs
  std::ostream* log = nullptr;  // not null: a line for each phase, with its seconds
  // Called before each phase where it is not empty; false ends the run there, as `to` would.
  std::function<absl::StatusOr<bool>(const Phase&)> go_on;
};

// Runs the phases from `from` to `to` on `compilation`, which holds what they made until then also
// where one fails. Returns the phase's own error (the user's mistake); where a verifier fails, that
// is a mistake of ours: an Internal error that names the phase.
absl::Status RunPhases(const PhaseOptions& options, Compilation& compilation);

// The model that the phases up to `cluster` make of what `model` was made of, with factors of
// dimensions or without: the file is not read again. FailedPrecondition where `model` has no
// source.
absl::StatusOr<Model> WithFactors(const Model& model, bool factors);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_PHASES_H_
