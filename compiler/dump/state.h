// The state between two phases as a file: written for --dump, read for --from. The text is a module
// of the dialect; the values of parameters lie in a file beside it, once for all phases. Starting
// again from a written state gives the same program.
#ifndef YUBA_COMPILER_DUMP_STATE_H_
#define YUBA_COMPILER_DUMP_STATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/compilation.h"

namespace yuba::compiler {

// The state as text; a state that the dialect's own verifiers refuse is our bug and ends the
// program.
std::string StateText(const Compilation& compilation);

// Where a state was read, as "FILE:LINE:COLUMN": what was read may be refused later, too.
struct StatePlaces {
  std::string graph, program;        // of yuba.graph and yuba.program; empty where there is none
  std::vector<std::string> tensors;  // [TensorId]: of the operation whose result it is
};

// Replaces graph, plan and program of `compilation` by those of `text`. Errors of the user
// (InvalidArgument) with MLIR's message, line and column; `file` is the name that they give. What
// the text claims of its model and its plan is not looked at: that is check_read.h.
absl::StatusOr<StatePlaces> ParseState(absl::string_view text, const std::string& file,
                                       Compilation& compilation);

// The same to and from the file `path`.
absl::Status WriteState(const Compilation& compilation, const std::string& path);
absl::StatusOr<StatePlaces> ReadState(const std::string& path, Compilation& compilation);

// The values of parameters and constants, by tensor number (values.proto). ReadValues replaces
// model.values. More than 2 GiB of values that the model holds itself are an error.
absl::Status WriteValues(const Model& model, const std::string& path);
absl::Status ReadValues(const std::string& path, Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_STATE_H_
