#include "tools/flags/set_options.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_file.h"
#include "tools/flags/model_flags.h"

namespace yuba::tools {
namespace {

using onnx::ImportOptions;

// Adds NAME=N to `dims`.
absl::Status AddDim(const std::string& text, std::map<std::string, int64_t>& dims) {
  const NamedValue parts = SplitNamed(text);
  int64_t value = 0;
  if (parts.first.empty() || !absl::SimpleAtoi(parts.second, &value)) {
    return UserError("--dim ", text,
                     ": expected NAME=N with a whole number N, as in --dim batch=8");
  }
  if (value < 1) {
    return UserError("--dim ", text, ": a tensor with a dimension of ", value,
                     value == 0 ? " has no elements" : " cannot be",
                     "; give a length of at least 1, as in --dim ", parts.first, "=8");
  }
  const auto [at, added] = dims.emplace(parts.first, value);
  if (added || at->second == value) return absl::OkStatus();
  return UserError("--dim ", parts.first, "=", at->second, " and --dim ", text,
                   ": give one of them");
}

absl::Status SetNames(const char* flag, const std::string& value, std::vector<std::string>& names) {
  names = absl::StrSplit(value, ',');
  if (std::count(names.begin(), names.end(), "") == 0) return absl::OkStatus();
  return UserError(flag, " ", value, ": a name is empty; expected NAME,..., as in ", flag,
                   " boxes,scores");
}

}  // namespace

absl::Status SetFromTensors(const std::string& value, ImportOptions& options) {
  return SetNames("--from-tensors", value, options.from_tensors);
}

absl::Status SetToTensors(const std::string& value, ImportOptions& options) {
  return SetNames("--to-tensors", value, options.to_tensors);
}

absl::Status SetDim(const std::string& value, ImportOptions& options) {
  return AddDim(value, options.dims);
}

absl::Status SetBatch(const std::string& value, ImportOptions& options) {
  return SetCount("--batch", value, "examples", options.batch.emplace());
}

// Names of dimensions may have colons.
absl::Status SetBatchDim(const std::string& value, ImportOptions& options) {
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(value, ','))) {
    onnx::BatchDim dim;
    const size_t colon = text.rfind(':');
    if (colon != std::string::npos && absl::SimpleAtoi(text.substr(colon + 1), &dim.dim)) {
      dim.input = text.substr(0, colon);
    } else {
      dim.symbol = text;
    }
    if ((dim.input.empty() && dim.symbol.empty()) || (!dim.input.empty() && dim.dim < 0)) {
      return UserError("--batch-dim ", value, ": expected the name of a dimension or ",
                       "INPUT:DIMENSION, as in --batch-dim x:1; dimensions count from 0");
    }
    options.batch_dims.push_back(std::move(dim));
  }
  return absl::OkStatus();
}

absl::Status SetBind(const std::string& value, ImportOptions& options) {
  const NamedValue parts = SplitNamed(value);
  if (parts.first.empty() || parts.second.empty()) {
    return UserError("--bind ", value, ": expected NAME=FILE");
  }
  if (options.bind.count(parts.first) > 0) {
    return UserError("--bind ", value, ": ", parts.first, " is bound twice; give one of them");
  }
  YUBA_ASSIGN_OR_RETURN(TensorData tensor, ReadTensorFile(parts.second));
  options.bind[parts.first] = {tensor.type, tensor.dims, std::move(tensor.data)};
  return absl::OkStatus();
}

absl::Status SetState(const std::string& value, ImportOptions& options) {
  const NamedValue parts = SplitNamed(value);
  if (parts.first.empty() || parts.second.empty()) {
    return UserError("--state ", value, ": expected OUT=IN, an output and an input of the model");
  }
  const auto [at, added] = options.state.emplace(parts);
  if (added || at->second == parts.second) return absl::OkStatus();
  return UserError("--state ", parts.first, "=", at->second, " and --state ", value,
                   ": give one of them");
}

absl::Status SetCache(const std::string& value, ImportOptions& options) {
  const NamedValue parts = SplitNamed(value);
  const size_t colon = parts.second.rfind(':');
  onnx::CacheOptions cache = {parts.first, parts.second.substr(0, colon), 0};
  if (cache.past.empty() || cache.present.empty() || colon == std::string::npos ||
      !absl::SimpleAtoi(parts.second.substr(colon + 1), &cache.length) || cache.length < 1) {
    return UserError("--cache ", value, ": expected PAST=PRESENT:LENGTH, as in ",
                     "--cache 'past_*=present_*:1024'");
  }
  options.caches.push_back(std::move(cache));
  return absl::OkStatus();
}

absl::Status SetEntry(const std::string& value, ImportOptions& options) {
  const std::vector<std::string> parts = absl::StrSplit(value, absl::MaxSplits(':', 1));
  const std::vector<std::string> name = absl::StrSplit(parts[0], absl::MaxSplits('*', 1));
  onnx::EntryOptions entry;
  entry.name = name[0];
  if (entry.name.empty()) {
    return UserError("--entry ", value, ": expected NAME:SYMBOL=N,..., as in --entry ",
                     "prefill:sequence=64");
  }
  if (name.size() == 2 && (!absl::SimpleAtoi(name[1], &entry.times) || entry.times < 1)) {
    return UserError("--entry ", value,
                     ": expected NAME*TIMES with a whole number TIMES from 1, as in --entry ",
                     entry.name, "*16:sequence=1");
  }
  if (parts.size() == 2) {
    for (const absl::string_view dim : absl::StrSplit(parts[1], ',', absl::SkipEmpty())) {
      YUBA_RETURN_IF_ERROR(
          Annotate(AddDim(std::string(dim), entry.dims), absl::StrCat("--entry ", value)));
    }
  }
  options.entries.push_back(std::move(entry));
  return absl::OkStatus();
}

}  // namespace yuba::tools
