#include "tools/run/checkpoint/checkpoint.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_file.h"
#include "tools/run/checkpoint/checkpoint_folder.h"
#include "tools/run/checkpoint/program_states.h"

namespace yuba::tools {
namespace {

// In the metadata of a file: how many steps the states have seen.
constexpr char kStep[] = "step";

// Whether it is a key of the metadata, of a file or of a folder's index, and so no name of a tensor
// there. Facts say what such a tensor is tied to.
bool IsKey(const std::string& name) {
  return name == kStep || name == kFacts || name == "format" || name == "total_size";
}

std::vector<TensorToWrite> TensorsOf(runtime::Session& session) {
  Parameters parameters = States(session.program());
  parameters.merge(Unchanged(session.program(), session.replaced()));
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, parameter] : parameters) {
    const program::Port& port = parameter->port();
    const PortType type = TypeOf(session.program(), port);
    TensorToWrite tensor;
    tensor.name = name;
    tensor.type = type.type;
    tensor.dims = type.dims;
    tensor.value = [&session, port, dims = type.dims]() -> absl::StatusOr<TensorData> {
      absl::StatusOr<TensorData> value =
          session.GetBuffer(port.buffer(), runtime::Gathered::kByFirstRank);
      if (value.ok()) value->dims = dims;
      return value;
    };
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// What a rank that writes no file does while rank 0 writes it: gives what it has of each tensor,
// in the order in which they are asked for.
absl::Status GiveAll(const std::vector<TensorToWrite>& tensors) {
  for (const TensorToWrite& tensor : tensors) YUBA_RETURN_IF_ERROR(tensor.value().status());
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSave(const std::string& path, const std::string& resumed) {
  if (path.empty() || SameFile(path, resumed)) return absl::OkStatus();
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return CheckOutput(IndexFileIn(path));
  return CheckOutput(absl::EndsWith(path, "/") ? path.substr(0, path.size() - 1) : path);
}

absl::Status SaveCheckpoint(runtime::Session& session, const std::string& path, int64_t step,
                            int64_t shard_bytes, RunFacts facts,
                            const std::map<std::string, TensorData>& numbers) {
  std::vector<TensorToWrite> tensors = TensorsOf(session);
  for (const auto& [name, number] : numbers)
    tensors.push_back({name, number.type, number.dims, [&number = number] { return number; }});
  if (!session.IsFirstRank()) return GiveAll(tensors);
  SafetensorsMetadata said;
  AddFacts(session.program(), facts);
  said[kFacts] = FormatFacts(facts);
  for (const auto& [tied, to] : facts.ties) {
    if (!to.transposed && !IsKey(tied)) said[tied] = to.kept;  // as everybody says it
  }
  if (IsCheckpointFolder(path)) {
    return WriteCheckpointFolder(path, tensors, step, said, shard_bytes);
  }
  said["format"] = "pt";
  said[kStep] = absl::StrCat(step);
  return ReplaceFile(
      path, [&](const std::string& file) { return WriteSafetensors(file, tensors, said); });
}

bool HasCheckpoint(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(IsCheckpointFolder(path) ? IndexFileIn(path) : path, error);
}

bool IsCheckpoint(const WeightFiles& files) { return files.file.metadata.count(kStep) > 0; }

absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path) {
  Checkpoint checkpoint;
  YUBA_ASSIGN_OR_RETURN(checkpoint.files, ReadWeights(path));
  SafetensorsMetadata& said = checkpoint.files.file.metadata;
  if (!absl::SimpleAtoi(said[kStep], &checkpoint.step) || checkpoint.step < 0) {
    return UserError(path, ": does not say after how many steps it was written, so it is no ",
                     "checkpoint of yuba run --save; --weights begins with its values");
  }
  for (const auto& [name, type] : checkpoint.files.file.unread) {
    return UserError(path, ": ", name, " is of type ", type, ", which no checkpoint has");
  }
  if (said.count(kFacts) == 0) return checkpoint;
  absl::StatusOr<RunFacts> facts = ParseFacts(said[kFacts]);
  if (!facts.ok()) return Annotate(facts.status(), path);
  checkpoint.facts = *std::move(facts);
  return checkpoint;
}

}  // namespace yuba::tools
