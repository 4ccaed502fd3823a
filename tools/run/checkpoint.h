// Checkpoints: what a run changes, in a file that a later run begins with (--weights).
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_H_

#include <string>

#include "absl/status/status.h"
#include "runtime/session.h"

namespace yuba::tools {

// Whether steps of the program change anything that it keeps.
bool HasStates(const runtime::LoadedProgram& program);

// Writes the values of all states, trained weights and the optimizer's among them, as whole tensors
// by their names into a file of safetensors: whole or not at all. Any plan of the same model can go
// on from it, on any number of devices. Errors of writing name the file.
absl::Status SaveStates(runtime::Session& session, const std::string& path);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_H_
