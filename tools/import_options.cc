// The flags of a model as options of its import.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_file.h"
#include "tools/command.h"
#include "tools/model_flags.h"
#include "tools/train_flags.h"

namespace yuba::tools {
namespace {

absl::StatusOr<std::map<std::string, int64_t>> ParseDims(const std::vector<std::string>& dims) {
  std::map<std::string, int64_t> result;
  for (const std::string& dim : dims) {
    const NamedValue parts = SplitNamed(dim);
    int64_t value = 0;
    if (parts.first.empty() || !absl::SimpleAtoi(parts.second, &value)) {
      return UserError("--dim ", dim,
                       ": expected NAME=N with a whole number N, as in --dim batch=8");
    }
    if (value < 1) {
      return UserError("--dim ", dim, ": a tensor with a dimension of ", value,
                       value == 0 ? " has no elements" : " cannot be",
                       "; give a length of at least 1, as in --dim ", parts.first, "=8");
    }
    const auto [at, added] = result.emplace(parts.first, value);
    if (!added && at->second != value) {
      return UserError("--dim ", parts.first, "=", at->second, " and --dim ", dim,
                       ": give one of them");
    }
  }
  return result;
}

// --entry and --times.
absl::StatusOr<std::vector<onnx::EntryOptions>> ParseEntries(const ModelFlags& flags) {
  std::vector<onnx::EntryOptions> entries;
  for (const std::string& flag : flags.entries) {
    const std::vector<std::string> parts = absl::StrSplit(flag, absl::MaxSplits(':', 1));
    onnx::EntryOptions entry;
    entry.name = parts[0];
    if (parts.size() == 2) {
      absl::StatusOr<std::map<std::string, int64_t>> dims =
          ParseDims(absl::StrSplit(parts[1], ',', absl::SkipEmpty()));
      if (!dims.ok()) return Annotate(dims.status(), absl::StrCat("--entry ", flag));
      entry.dims = *std::move(dims);
    }
    entries.push_back(std::move(entry));
  }
  for (const std::string& flag : flags.times) {
    const NamedValue parts = SplitNamed(flag);
    const auto entry =
        std::find_if(entries.begin(), entries.end(),
                     [&](const onnx::EntryOptions& e) { return e.name == parts.first; });
    if (entry == entries.end()) {
      return UserError("--times ", flag, ": there is no --entry ", parts.first);
    }
    if (!absl::SimpleAtoi(parts.second, &entry->times) || entry->times < 1) {
      return UserError("--times ", flag, ": expected NAME=N with a whole number N from 1, as in ",
                       "--times ", parts.first, "=16");
    }
  }
  return entries;
}

// --from-tensors and --to-tensors; none where the flag is not given.
absl::StatusOr<std::vector<std::string>> TensorNames(const char* flag, const std::string& text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  names = absl::StrSplit(text, ',');
  if (std::count(names.begin(), names.end(), "") > 0) {
    return UserError(flag, " ", text, ": a name is empty; expected NAME,..., as in ", flag,
                     " boxes,scores");
  }
  return names;
}

// --batch-dim. Names of dimensions may have colons.
absl::StatusOr<std::vector<onnx::BatchDim>> ParseBatchDims(const ModelFlags& flags) {
  std::vector<onnx::BatchDim> dims;
  if (flags.batch_dim.empty()) return dims;
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(flags.batch_dim, ','))) {
    onnx::BatchDim dim;
    const size_t colon = text.rfind(':');
    if (colon != std::string::npos && absl::SimpleAtoi(text.substr(colon + 1), &dim.dim)) {
      dim.input = text.substr(0, colon);
    } else {
      dim.symbol = text;
    }
    if ((dim.input.empty() && dim.symbol.empty()) || (!dim.input.empty() && dim.dim < 0)) {
      return UserError("--batch-dim ", flags.batch_dim, ": expected the name of a dimension or ",
                       "INPUT:DIMENSION, as in --batch-dim x:1; dimensions count from 0");
    }
    dims.push_back(std::move(dim));
  }
  return dims;
}

// --cache.
absl::StatusOr<std::vector<onnx::CacheOptions>> ParseCaches(const ModelFlags& flags) {
  std::vector<onnx::CacheOptions> caches;
  for (const std::string& flag : flags.caches) {
    const NamedValue parts = SplitNamed(flag);
    const size_t colon = parts.second.rfind(':');
    onnx::CacheOptions cache = {parts.first, parts.second.substr(0, colon), 0};
    if (cache.past.empty() || cache.present.empty() || colon == std::string::npos ||
        !absl::SimpleAtoi(parts.second.substr(colon + 1), &cache.length) || cache.length < 1) {
      return UserError("--cache ", flag, ": expected PAST=PRESENT:LENGTH, as in ",
                       "--cache 'past_*=present_*:1024'");
    }
    caches.push_back(std::move(cache));
  }
  return caches;
}

}  // namespace

absl::StatusOr<OperatorLibrary> LoadLibrary(const ModelFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(OperatorLibrary library, OperatorLibrary::BuiltIn());
  for (const std::string& file : flags.operators) {
    YUBA_ASSIGN_OR_RETURN(std::string text, ReadFile(file));
    YUBA_RETURN_IF_ERROR(library.Add(file, text));
  }
  return library;
}

absl::StatusOr<onnx::ImportOptions> ImportOptionsOf(const ModelFlags& flags,
                                                    const OperatorLibrary& library) {
  onnx::ImportOptions options;
  options.library = &library;
  YUBA_ASSIGN_OR_RETURN(options.from_tensors, TensorNames("--from-tensors", flags.from_tensors));
  YUBA_ASSIGN_OR_RETURN(options.to_tensors, TensorNames("--to-tensors", flags.to_tensors));
  options.factors = flags.factors;
  options.bind = flags.numbers;
  options.strict = flags.strict;
  options.init = flags.init;
  YUBA_ASSIGN_OR_RETURN(options.dims, ParseDims(flags.dims));
  if (flags.batch > 0) options.batch = flags.batch;
  YUBA_ASSIGN_OR_RETURN(options.batch_dims, ParseBatchDims(flags));
  for (const std::string& bind : flags.bind) {
    const NamedValue parts = SplitNamed(bind);
    if (parts.first.empty() || parts.second.empty()) {
      return UserError("--bind ", bind, ": expected NAME=FILE");
    }
    if (options.bind.count(parts.first) > 0) {
      return UserError("--bind ", bind, ": ", parts.first, " is bound twice; give one of them");
    }
    YUBA_ASSIGN_OR_RETURN(TensorData tensor, ReadTensorFile(parts.second));
    options.bind[parts.first] = {tensor.type, tensor.dims, std::move(tensor.data)};
  }
  YUBA_ASSIGN_OR_RETURN(options.entries, ParseEntries(flags));
  YUBA_ASSIGN_OR_RETURN(options.caches, ParseCaches(flags));
  if (!flags.train.empty()) {
    YUBA_ASSIGN_OR_RETURN(options.train, TrainOptionsOf(flags));
  }
  for (const std::string& state : flags.states) {
    const NamedValue parts = SplitNamed(state);
    if (parts.first.empty() || parts.second.empty()) {
      return UserError("--state ", state, ": expected OUT=IN, an output and an input of the model");
    }
    const auto [at, added] = options.state.emplace(parts);
    if (!added && at->second != parts.second) {
      return UserError("--state ", parts.first, "=", at->second, " and --state ", state,
                       ": give one of them");
    }
  }
  return options;
}

}  // namespace yuba::tools
