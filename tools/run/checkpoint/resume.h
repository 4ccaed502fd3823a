// Going on with a run as it was (--resume): its tensors, and what else it was given.
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_RESUME_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_RESUME_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "runtime/session.h"
#include "tools/run/checkpoint/checkpoint.h"
#include "tools/run/checkpoint/run_facts.h"
#include "tools/run/run_flags.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {

// The flags with what they do not give and the checkpoint says: the data's order and the learning
// rate, unless --override names them.
RunFlags AsItWas(const RunFlags& flags, const RunPorts& ports, const Checkpoint& checkpoint);

// Whether the run that the facts are of is that of the checkpoint, but for what --override names.
// Steps, epochs, paths and devices may be others. The user's error names what differs, with both
// values, or a name of --override of which neither run has anything. A note on stderr says so where
// steps take other batches, or where the checkpoint is of an older version and says nothing.
absl::Status CheckAsItWas(const RunFlags& flags, const RunFacts& facts,
                          const Checkpoint& checkpoint);

// The same of what is tuned, which is known once the session is open. Calls that only one of the
// runs has, as with another plan or on another number of devices, say nothing.
absl::Status CheckTuning(const RunFlags& flags, const RunFacts& facts,
                         const Checkpoint& checkpoint);

// Sets the states of the session and what else the checkpoint has. An error, before any is set,
// where the checkpoint lacks a state, or has a tensor of another type or shape or one that is no
// parameter, or where other weights were frozen or tied. Of `overrides` "train",
// "freeze" and "tie" allow that: states that are not there begin as in a new run. A note on stderr
// names the frozen weights that it lacks.
absl::Status Resume(runtime::Session& session, const Checkpoint& checkpoint,
                    const std::set<std::string>& overrides);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_RESUME_H_
