#include "tools/run/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_file.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint_folder.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {
namespace {

// In the metadata of a file: how many steps the states have seen.
constexpr char kStep[] = "step";

std::set<int> WrittenBuffers(const runtime::LoadedProgram& program) {
  std::set<int> written;
  for (const program::EntryRange& entry : program.entries()) {
    if (entry.name == program::kInitEntry) continue;  // what it makes is made anew
    for (int i = entry.begin; i < entry.end; ++i) {
      const runtime::Instruction& instruction = program.instructions()[i];
      if (instruction.exchange != nullptr) written.insert(instruction.exchange->destination());
      if (instruction.kernel == nullptr) continue;
      for (const program::Access& result : instruction.kernel->results())
        written.insert(result.buffer());
    }
  }
  return written;
}

// Whether the state is of the parts of one step in micro-batches: the count of parts, or the mean
// of a gradient (compiler/train/micro_batches.h). After a step nothing reads it, and before the
// first it is as after any.
bool IsOfParts(const std::string& state, bool micro_batches) {
  return micro_batches && (state == kPartState || absl::EndsWith(state, kMeanGradient));
}

// Parameters by name.
using Parameters = std::map<std::string, const program::Initializer*>;

// The parameters that instructions write and a later step reads, and the seed of what steps draw.
Parameters States(const runtime::LoadedProgram& program) {
  const std::set<int> written = WrittenBuffers(program);
  const bool micro_batches = MicroBatchesOf(PortsOf(program.message())) > 1;
  Parameters states;
  for (const program::Initializer& parameter : program.message().parameters()) {
    const program::Port& port = parameter.port();
    if (IsOfParts(port.name(), micro_batches)) continue;
    if (written.count(port.buffer()) > 0 || port.name() == kSeedName)
      states[port.name()] = &parameter;
  }
  return states;
}

// What no step changes and a later run needs all the same: frozen weights, and what this run was
// given in the place of the program's values, such as statistics that were trained elsewhere.
Parameters Unchanged(const runtime::LoadedProgram& program, const std::set<std::string>& replaced) {
  const std::set<int> written = WrittenBuffers(program);
  Parameters unchanged;
  for (const program::Initializer& parameter : program.message().parameters()) {
    const std::string& name = parameter.port().name();
    if (written.count(parameter.port().buffer()) > 0 || name == kSeedName || name == kLearningRate)
      continue;
    if (parameter.trainable() || replaced.count(name) > 0) unchanged[name] = &parameter;
  }
  return unchanged;
}

PortType TypeOf(const runtime::LoadedProgram& program, const program::Port& port) {
  return {program.type(port.buffer()), {port.shape().begin(), port.shape().end()}};
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
      absl::StatusOr<TensorData> value = session.GetBuffer(port.buffer());
      if (value.ok()) value->dims = dims;
      return value;
    };
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Says which frozen weights the checkpoint does not have, as older versions wrote it.
void NoteLacking(const runtime::Session& session, const Checkpoint& checkpoint) {
  std::vector<std::string> lacking;
  for (const auto& [name, parameter] : Unchanged(session.program(), {})) {
    if (checkpoint.tensors.count(name) == 0) lacking.push_back(name);
  }
  if (lacking.empty()) return;
  std::cerr << "note: " << checkpoint.path << ": does not have " << FirstOf(lacking)
            << ", which this run does not train: the values are the model's own\n";
}

}  // namespace

bool HasStates(const runtime::LoadedProgram& program) {
  const std::set<int> written = WrittenBuffers(program);
  const auto& parameters = program.message().parameters();
  return std::any_of(parameters.begin(), parameters.end(), [&](const program::Initializer& p) {
    return written.count(p.port().buffer()) > 0;
  });
}

absl::Status CheckSave(const std::string& path, const std::string& resumed) {
  if (path.empty() || SameFile(path, resumed)) return absl::OkStatus();
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return CheckOutput(IndexFileIn(path));
  return CheckOutput(absl::EndsWith(path, "/") ? path.substr(0, path.size() - 1) : path);
}

absl::Status SaveCheckpoint(runtime::Session& session, const std::string& path, int64_t step,
                            int64_t shard_bytes) {
  const std::vector<TensorToWrite> tensors = TensorsOf(session);
  if (IsCheckpointFolder(path)) return WriteCheckpointFolder(path, tensors, step, shard_bytes);
  return ReplaceFile(path, [&](const std::string& file) {
    return WriteSafetensors(file, tensors, {{"format", "pt"}, {kStep, absl::StrCat(step)}});
  });
}

bool IsCheckpoint(const WeightFiles& files) { return files.file.metadata.count(kStep) > 0; }

absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(WeightFiles files, ReadWeights(path));
  Checkpoint checkpoint;
  checkpoint.path = path;
  if (!absl::SimpleAtoi(files.file.metadata[kStep], &checkpoint.step) || checkpoint.step < 0) {
    return UserError(path, ": does not say after how many steps it was written, so it is no ",
                     "checkpoint of yuba run --save; --weights begins with its values");
  }
  for (const auto& [name, type] : files.file.unread) {
    return UserError(path, ": ", name, " is of type ", type, ", which no checkpoint has");
  }
  checkpoint.tensors = std::move(files.file.tensors);
  return checkpoint;
}

absl::Status Resume(runtime::Session& session, const Checkpoint& checkpoint) {
  Parameters known = States(session.program());
  for (const auto& [name, state] : known) {
    if (checkpoint.tensors.count(name) > 0) continue;
    return UserError(checkpoint.path, ": lacks ", name, ", ",
                     Text(TypeOf(session.program(), state->port())),
                     ", a state of the program: it is a checkpoint of another model or ",
                     "optimizer; --weights takes what it has");
  }
  NoteLacking(session, checkpoint);
  for (const program::Initializer& parameter : session.program().message().parameters())
    known.emplace(parameter.port().name(), &parameter);
  for (const auto& [name, tensor] : checkpoint.tensors) {
    const auto parameter = known.find(name);
    if (parameter == known.end()) {
      return UserError(tensor.bytes.file, ": has ", name, ", which is no state of the program: it ",
                       "is a checkpoint of another model or optimizer; --weights takes what fits");
    }
    const PortType wanted = TypeOf(session.program(), parameter->second->port()),
                   stored = {tensor.type, tensor.dims};
    if (stored.type == wanted.type && stored.dims == wanted.dims) continue;
    return UserError(tensor.bytes.file, ": ", name, " is ", Text(stored),
                     " there, and the program's is ", Text(wanted),
                     ": it is a checkpoint of another model");
  }
  for (const auto& [name, tensor] : checkpoint.tensors) {
    YUBA_RETURN_IF_ERROR(Annotate(session.SetFromFile(name, tensor), checkpoint.path));
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
