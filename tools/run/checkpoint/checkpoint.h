// Checkpoints: what a run changes, and how many steps have changed it, in files that a later run
// goes on from (--resume). A checkpoint is one file of safetensors, or a folder with several and an
// index, as Hugging Face has them:
//
//   DIR/model.safetensors.index.json              which tensor is in which file, and the step
//   DIR/model-step12-00001-of-00002.safetensors
//   DIR/model-step12-00002-of-00002.safetensors
//
// In it are the states, the weights that are frozen, and what else the run was given in the place
// of the program's values. Tensors are whole and have their names in the program, so any plan of
// the same model and optimizer can go on, on any number of devices. Errors are the user's and name
// file and tensor.
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_CHECKPOINT_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "runtime/session.h"
#include "tools/run/checkpoint/run_facts.h"
#include "tools/run/checkpoint/weights.h"

namespace yuba::tools {

// Whether a checkpoint can be written there, found out before the run; nothing is changed. It may
// take the place of `resumed`, the checkpoint that the run goes on from ("": none).
absl::Status CheckSave(const std::string& path, const std::string& resumed);

// Writes what the session has after `step` steps, the facts of its run, to which it adds what is
// frozen and tied, and `numbers`, which the run was given and which stand in the program's code.
// The checkpoint that was there stays whole until the new one is, whatever happens: new files are
// written beside the old ones, and renaming a file, or of a folder its index, makes them the
// checkpoint. Files of a folder hold at most `shard_bytes`, or one tensor.
absl::Status SaveCheckpoint(runtime::Session& session, const std::string& path, int64_t step,
                            int64_t shard_bytes, RunFacts facts,
                            const std::map<std::string, TensorData>& numbers);

// Whether a file or folder with an index is there, as --save leaves it at this path.
bool HasCheckpoint(const std::string& path);

// Whether --save wrote them.
bool IsCheckpoint(const WeightFiles& files);

struct Checkpoint {
  WeightFiles files;  // tensors stay there
  int64_t step = 0;
  absl::optional<RunFacts> facts;  // none: an older version wrote it

  const std::string& path() const { return files.path; }
  const std::map<std::string, StoredTensor>& tensors() const { return files.file.tensors; }
};
// Reads the headers of its files, and checks that all that they list is there.
absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_CHECKPOINT_H_
