// The state between two phases as a file: written for --dump, read for --from. The text is a module
// of the dialect; the values of parameters lie beside it, once for all phases.
#ifndef YUBA_COMPILER_DUMP_STATE_H_
#define YUBA_COMPILER_DUMP_STATE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/compilation.h"

namespace yuba::compiler {

std::string StateText(const Compilation& compilation);
// Errors have MLIR's message with line and column; `file` is for them.
absl::Status ParseState(absl::string_view text, const std::string& file, Compilation& compilation);

absl::Status WriteState(const Compilation& compilation, const std::string& path);
absl::Status ReadState(const std::string& path, Compilation& compilation);

// The values of parameters and constants, by number of the tensor.
absl::Status WriteValues(const Model& model, const std::string& path);
absl::Status ReadValues(const std::string& path, Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_STATE_H_
