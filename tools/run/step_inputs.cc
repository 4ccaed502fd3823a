#include "tools/run/step_inputs.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

// The program's input; null where it has none of that name.
const program::Port* PortOf(const runtime::Session& session, const std::string& input) {
  for (const program::Port& port : session.program().message().inputs()) {
    if (port.name() == input) return &port;
  }
  return nullptr;
}

std::vector<int64_t> DimsOf(const program::Port& port) {
  return {port.shape().begin(), port.shape().end()};
}

// Whether the value has `parts` times the examples of the input, a part of them for each.
bool IsWhole(const TensorData& value, const program::Port& port, int64_t parts) {
  if (parts == 1 || port.examples() == 0) return false;
  std::vector<int64_t> dims = DimsOf(port);
  dims[port.examples() - 1] *= parts;
  return value.dims == dims;
}

// The examples of one part; dimension `dim` counts them.
TensorData PartOf(const TensorData& whole, int dim, int64_t part, int64_t parts) {
  TensorData value{whole.type, whole.dims, ""};
  value.dims[dim] /= parts;
  size_t blocks = static_cast<size_t>(parts);
  for (int d = 0; d < dim; ++d) blocks *= static_cast<size_t>(whole.dims[d]);
  const size_t bytes = whole.data.size() / blocks;
  for (size_t at = static_cast<size_t>(part); at < blocks; at += static_cast<size_t>(parts))
    value.data.append(whole.data, at * bytes, bytes);
  return value;
}

}  // namespace

StepInputs::StepInputs(EntryRun& run, int64_t done) : run_(run) {
  if (run.batches != nullptr) {
    reader_ = std::make_unique<BatchReader>(*run.batches, done, run.times);
  }
}

absl::Status StepInputs::Set(runtime::Session& session) {
  if (reader_ != nullptr) {
    YUBA_ASSIGN_OR_RETURN(StepFiles batch, reader_->Next());
    YUBA_RETURN_IF_ERROR(Take(session, batch.inputs));
    expected_ = std::move(batch.expected);
  }
  YUBA_RETURN_IF_ERROR(Take(session, run_.first.inputs));
  run_.first.inputs.clear();
  return absl::OkStatus();
}

absl::Status StepInputs::Take(runtime::Session& session, std::vector<StepFiles::Input>& inputs) {
  for (StepFiles::Input& input : inputs) {
    whole_.erase(input.name);
    const program::Port* port = PortOf(session, input.name);
    if (port != nullptr && IsWhole(input.value, *port, run_.parts)) {
      Whole& whole = whole_[input.name];
      whole.dim = port->examples() - 1;
      whole.input = std::move(input);
      continue;
    }
    const bool same = port == nullptr || input.value.dims == DimsOf(*port);
    if (run_.parts > 1 && !same && port->examples() > 0) {
      return UserError(input.file, ": ", input.name, " has shape [",
                       absl::StrJoin(input.value.dims, ", "), "], and a step takes ", run_.parts,
                       " parts of [", absl::StrJoin(port->shape(), ", "), "] along dimension ",
                       port->examples() - 1, ", together or one for all");
    }
    YUBA_RETURN_IF_ERROR(Annotate(session.Set(input.name, input.value), input.file));
  }
  return absl::OkStatus();
}

absl::Status StepInputs::SetPart(runtime::Session& session, int64_t part) {
  for (const auto& [name, whole] : whole_) {
    const TensorData value = PartOf(whole.input.value, whole.dim, part, run_.parts);
    YUBA_RETURN_IF_ERROR(Annotate(session.Set(name, value), whole.input.file));
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
