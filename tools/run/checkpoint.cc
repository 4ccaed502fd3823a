#include "tools/run/checkpoint.h"

#include <set>
#include <utility>
#include <vector>

#include "opsemantics/values/tensor_file.h"

namespace yuba::tools {
namespace {

// The parameters that instructions write, but for those of the entry `init`, which are made anew.
std::vector<program::Port> States(const runtime::LoadedProgram& program) {
  std::set<int> written;
  for (const program::EntryRange& entry : program.entries()) {
    if (entry.name == program::kInitEntry) continue;
    for (int i = entry.begin; i < entry.end; ++i) {
      const runtime::Instruction& instruction = program.instructions()[i];
      if (instruction.exchange != nullptr) written.insert(instruction.exchange->destination());
      if (instruction.kernel == nullptr) continue;
      for (const program::Access& result : instruction.kernel->results())
        written.insert(result.buffer());
    }
  }
  std::vector<program::Port> states;
  for (const program::Initializer& parameter : program.message().parameters()) {
    if (written.count(parameter.port().buffer()) > 0) states.push_back(parameter.port());
  }
  return states;
}

}  // namespace

bool HasStates(const runtime::LoadedProgram& program) { return !States(program).empty(); }

absl::Status SaveStates(runtime::Session& session, const std::string& path) {
  std::vector<TensorToWrite> tensors;
  for (const program::Port& port : States(session.program())) {
    TensorToWrite tensor;
    tensor.name = port.name();
    tensor.type = session.program().type(port.buffer());
    tensor.dims.assign(port.shape().begin(), port.shape().end());
    tensor.value = [&session, port, dims = tensor.dims]() -> absl::StatusOr<TensorData> {
      absl::StatusOr<TensorData> value = session.GetBuffer(port.buffer());
      if (value.ok()) value->dims = dims;
      return value;
    };
    tensors.push_back(std::move(tensor));
  }
  return WriteSafetensors(path, tensors);
}

}  // namespace yuba::tools
