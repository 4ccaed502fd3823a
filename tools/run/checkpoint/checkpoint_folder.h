// Checkpoints that are folders: their files and their index (checkpoint.h).
#ifndef YUBA_TOOLS_RUN_CHECKPOINT_CHECKPOINT_FOLDER_H_
#define YUBA_TOOLS_RUN_CHECKPOINT_CHECKPOINT_FOLDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "opsemantics/values/tensor_file.h"

namespace yuba::tools {

std::string IndexFileIn(const std::string& folder);

// Writes the file whole or not at all, also where this process has read it before: `write` is given
// the name to write to.
absl::Status ReplaceFile(const std::string& path,
                         const std::function<absl::Status(const std::string&)>& write);

// Makes the folder where it is missing, writes the tensors into files of at most `shard_bytes`
// (a larger tensor has one to itself), then the index, which also says `said`, and removes the
// files of the index that was there. Where it fails, the folder has the checkpoint that it had.
absl::Status WriteCheckpointFolder(const std::string& folder,
                                   const std::vector<TensorToWrite>& tensors, int64_t step,
                                   const SafetensorsMetadata& said, int64_t shard_bytes);

// Whether a checkpoint, or a folder of weights, of this path is a folder: where it is one, or ends
// in a slash.
bool IsCheckpointFolder(const std::string& path);

// The folder that such a path is, or that its file lies in; empty where no file of a disk is meant,
// as with "" or /dev/stdout.
std::string FolderOnDisk(const std::string& path);

// The tensors that the index of the folder lists, or without one those of its model.safetensors,
// and as metadata what the index says, numbers as texts, and the names of tensors that its files
// say are shared. An error where a tensor is not in its file.
absl::StatusOr<SafetensorsFile> ReadFolder(const std::string& folder);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_CHECKPOINT_CHECKPOINT_FOLDER_H_
