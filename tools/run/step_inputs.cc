#include "tools/run/step_inputs.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

// The dimensions of the program's input; empty where it has none of that name.
std::vector<int64_t> DimsOf(const runtime::Session& session, const std::string& input) {
  for (const program::Port& port : session.program().message().inputs()) {
    if (port.name() == input) return {port.shape().begin(), port.shape().end()};
  }
  return {};
}

// Whether the value has `parts` times the rows of the input, a part of them for each.
bool IsWhole(const TensorData& value, std::vector<int64_t> dims, int64_t parts) {
  if (parts == 1 || dims.empty()) return false;
  dims[0] *= parts;
  return value.dims == dims;
}

TensorData PartOf(const TensorData& whole, int64_t part, int64_t parts) {
  TensorData value{whole.type, whole.dims, ""};
  value.dims[0] /= parts;
  const size_t bytes = whole.data.size() / static_cast<size_t>(parts);
  value.data = whole.data.substr(static_cast<size_t>(part) * bytes, bytes);
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
    const std::vector<int64_t> dims = DimsOf(session, input.name);
    if (IsWhole(input.value, dims, run_.parts)) {
      whole_[input.name] = std::move(input);
      continue;
    }
    if (run_.parts > 1 && !dims.empty() && input.value.dims != dims) {
      return UserError(input.file, ": ", input.name, " has shape [",
                       absl::StrJoin(input.value.dims, ", "), "], and a step takes ", run_.parts,
                       " parts of [", absl::StrJoin(dims, ", "), "], together or one for all");
    }
    YUBA_RETURN_IF_ERROR(Annotate(session.Set(input.name, input.value), input.file));
  }
  return absl::OkStatus();
}

absl::Status StepInputs::SetPart(runtime::Session& session, int64_t part) {
  for (const auto& [name, input] : whole_) {
    YUBA_RETURN_IF_ERROR(
        Annotate(session.Set(name, PartOf(input.value, part, run_.parts)), input.file));
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
