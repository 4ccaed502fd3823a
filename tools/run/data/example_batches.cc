#include "tools/run/data/example_batches.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_file.h"
#include "tools/report/text_table.h"
#include "tools/run/data/data_print.h"

namespace yuba::tools {
namespace {

constexpr char kNpy[] = ".npy", kSafetensors[] = ".safetensors";

// An array by the name of an input. Files that nobody wants may be of any kind.
struct Array {
  std::string file;
  absl::StatusOr<StoredTensor> tensor;
};
using Arrays = std::map<std::string, Array>;

absl::Status AddFile(const std::string& path, Arrays& arrays) {
  const auto add = [&](const std::string& name, absl::StatusOr<StoredTensor> tensor) {
    const auto [at, added] = arrays.emplace(name, Array{path, std::move(tensor)});
    return added ? absl::OkStatus()
                 : UserError(path, " and ", at->second.file, " both have values of ", name,
                             ": remove one of them");
  };
  if (absl::EndsWith(path, kNpy)) {
    const std::string base = BaseName(path);
    return add(base.substr(0, base.size() - (sizeof kNpy - 1)), ReadNpyHeader(path));
  }
  YUBA_ASSIGN_OR_RETURN(const SafetensorsFile file, ReadSafetensors(path));
  for (const auto& [name, tensor] : file.tensors) YUBA_RETURN_IF_ERROR(add(name, tensor));
  for (const auto& [name, type] : file.unread) {
    YUBA_RETURN_IF_ERROR(
        add(name, UserError(path, ": ", name, " is of type ", type, ", which is not read")));
  }
  return absl::OkStatus();
}

bool IsArrays(const std::string& path) {
  return absl::EndsWith(path, kNpy) || absl::EndsWith(path, kSafetensors);
}

absl::StatusOr<Arrays> ReadArrays(const std::string& path, const char* flag) {
  std::vector<std::string> files;
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    if (!IsArrays(path)) {
      return UserError(flag, " ", path, ": is no folder, and its name does not end in ", kNpy,
                       " or ", kSafetensors);
    }
    files = {path};
  }
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    if (IsArrays(at->path().string())) files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());  // so that errors do not depend on the folder's order
  Arrays arrays;
  for (const std::string& file : files) YUBA_RETURN_IF_ERROR(AddFile(file, arrays));
  return arrays;
}

// Names of the arrays, for people.
std::string Listed(const Arrays& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  return names.empty() ? "nothing" : FirstOf(names);
}

// The values of one input.
struct Column {
  std::string input;
  PortType type;        // of a batch
  StoredTensor stored;  // of all examples, or, where none are counted, of every step
  RangeReader reader;

  // How many elements an example has along the dimension that counts examples; 0 where none does.
  int64_t rows(int64_t examples) const {
    return type.examples < 0 ? 0 : type.dims[type.examples] / examples;
  }
};

int64_t ProductOf(std::vector<int64_t>::const_iterator begin,
                  std::vector<int64_t>::const_iterator end) {
  return std::accumulate(begin, end, int64_t{1}, std::multiplies<int64_t>());
}

class ExampleBatches : public Batches {
 public:
  ExampleBatches(std::string path, std::vector<Column> columns, int64_t examples, int64_t in_step,
                 absl::optional<uint64_t> seed)
      : path_(std::move(path)),
        columns_(std::move(columns)),
        examples_(examples),
        in_step_(in_step),
        seed_(seed),
        order_(examples_, seed) {}

  int64_t count() const override { return examples_; }
  int64_t in_step() const override { return in_step_; }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const Column& column : columns_) names.push_back(column.input);
    return names;
  }

  std::string Describe() const override {
    const int64_t left = examples_ % in_step_;
    return absl::StrCat(
        Counted(examples_, "example"), " of ", absl::StrJoin(names(), ", "), " in ", path_, ", ",
        in_epoch(), in_epoch() == 1 ? " batch" : " batches", " of ", in_step_, " an epoch",
        seed_.has_value() ? absl::StrCat(", shuffled by seed ", *seed_) : "",
        left > 0
            ? absl::StrCat("; the last ", left, " of each epoch fill no batch and are left out")
            : "");
  }

  absl::StatusOr<StepFiles> Read(int64_t step) override {
    const Position at = At(step);
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < in_step_; ++i) rows.push_back(order_.At(at.epoch, at.seen + i));
    StepFiles files;
    for (const Column& column : columns_) {
      TensorData value{column.stored.type, column.type.dims, ""};
      YUBA_ASSIGN_OR_RETURN(value.data, ReadExamples(column, rows));
      files.inputs.push_back({column.input, column.stored.bytes.file, std::move(value)});
    }
    return files;
  }

  absl::StatusOr<std::map<std::string, std::string>> Prints() const override {
    std::map<std::string, std::string> prints;
    for (const Column& column : columns_) {
      YUBA_ASSIGN_OR_RETURN(prints[column.input],
                            PrintOf({column.stored.type, column.stored.dims}, column.reader));
    }
    return prints;
  }

 private:
  absl::StatusOr<std::string> ReadExamples(const Column& column,
                                           const std::vector<int64_t>& examples) const {
    std::string bytes;
    if (column.type.examples < 0) {
      bytes.resize(static_cast<size_t>(column.stored.bytes.length));
      YUBA_RETURN_IF_ERROR(column.reader.Read(0, column.stored.bytes.length, bytes.data()));
      return bytes;
    }
    // Dimensions in front of the one that counts examples repeat it: a block for each of them.
    const auto dims = column.type.dims.begin();
    const int64_t blocks = ProductOf(dims, dims + column.type.examples);
    const int64_t block = column.stored.bytes.length / blocks, size = block / examples_;
    bytes.resize(static_cast<size_t>(size * blocks) * examples.size());
    char* to = bytes.data();
    for (int64_t b = 0; b < blocks; ++b) {
      for (size_t i = 0, end = 0; i < examples.size(); i = end) {
        // Examples that follow each other in the file are read at once.
        for (end = i + 1; end < examples.size() && examples[end] == examples[end - 1] + 1; ++end) {
        }
        const int64_t count = static_cast<int64_t>(end - i) * size;
        YUBA_RETURN_IF_ERROR(column.reader.Read(b * block + examples[i] * size, count, to));
        to += count;
      }
    }
    return bytes;
  }

  const std::string path_;
  const std::vector<Column> columns_;
  const int64_t examples_, in_step_;
  const absl::optional<uint64_t> seed_;
  EpochOrder order_;
};

// Whether the array has examples for an input of this type, or, where none are counted, its value.
absl::Status CheckColumn(const std::string& input, const PortType& type, const StoredTensor& array,
                         const char* flag) {
  const bool same_kind = IsFloat(type.type) ? array.type == type.type : !IsFloat(array.type);
  std::vector<int64_t> dims = array.dims;
  const bool counts = type.examples >= 0 && dims.size() == type.dims.size();
  if (counts) dims[type.examples] = type.dims[type.examples];
  if (same_kind && dims == type.dims) return absl::OkStatus();
  if (type.examples < 0) {
    return UserError(flag, ": the input ", input, ", ", Text(type), ", has no dimension that ",
                     "counts examples, and ", array.bytes.file, " has ",
                     Text({array.type, array.dims}), "; give its value with --input ", input,
                     "=FILE, or plan the model with --batch-dim, which says what counts them");
  }
  std::vector<std::string> wanted;
  for (const int64_t dim : type.dims) wanted.push_back(absl::StrCat(dim));
  wanted[type.examples] = "N";
  return UserError(array.bytes.file, ": has ", Text({array.type, array.dims}), " for the input ",
                   input, "; a step reads ", Text(type), ", so ", Name(type.type), "[",
                   absl::StrJoin(wanted, ", "), "] is wanted: N examples");
}

// How many examples the columns have, all the same number, at least as many as a step takes.
absl::StatusOr<int64_t> CountExamples(const std::vector<Column>& columns, int64_t in_step,
                                      const char* flag) {
  const Column* first = nullptr;
  int64_t examples = 0;
  for (const Column& column : columns) {
    if (column.type.examples < 0) continue;
    const int64_t rows = column.rows(in_step), all = column.stored.dims[column.type.examples];
    if (column.type.dims[column.type.examples] % in_step != 0 || all % rows != 0) {
      return UserError(flag, ": a step reads ", Text(column.type), " of the input ", column.input,
                       " for ", in_step, " examples, and ", column.stored.bytes.file, " has ",
                       Text({column.stored.type, column.stored.dims}), ": these are no examples");
    }
    if (first != nullptr && all / rows != examples) {
      return UserError(column.stored.bytes.file, ": has ", all / rows, " examples of ",
                       column.input, ", and ", first->stored.bytes.file, " has ", examples, " of ",
                       first->input, ": give as many of each");
    }
    if (first == nullptr) first = &column;
    examples = all / rows;
  }
  if (first != nullptr && examples >= in_step) return examples;
  YUBA_CHECK(first != nullptr);
  return UserError(first->stored.bytes.file, ": has ", Counted(examples, "example"), " of ",
                   first->input, ", and a step takes ", in_step,
                   ": give more, or plan the model with a smaller batch");
}

}  // namespace

absl::StatusOr<std::shared_ptr<Batches>> OpenExamples(
    const std::string& path, const RunPorts& ports, const std::string& entry,
    const std::set<std::string>& given, absl::optional<uint64_t> seed, const char* flag) {
  YUBA_ASSIGN_OR_RETURN(const Arrays arrays, ReadArrays(path, flag));
  std::vector<Column> columns;
  for (const std::string& input : InputsOfEntry(ports, entry)) {
    if (given.count(input) > 0) continue;
    std::string name = input;  // of "decode:ids" in the model's file: ids
    const std::string prefix = absl::StrCat(ReadingEntry(ports, entry), ":");
    if (absl::StartsWith(input, prefix)) name = input.substr(prefix.size());
    const PortType type = TypeInStep(ports, entry, input);
    const auto array = arrays.find(name);
    if (array == arrays.end()) {
      return UserError(flag, " ", path, ": has no values of the input ", name, ", ", Text(type),
                       ": it has ", Listed(arrays), "; add ", name, kNpy, ", or give one value ",
                       "for all steps with --input ", input, "=FILE");
    }
    YUBA_ASSIGN_OR_RETURN(const StoredTensor stored, array->second.tensor);
    YUBA_RETURN_IF_ERROR(CheckColumn(input, type, stored, flag));
    YUBA_ASSIGN_OR_RETURN(RangeReader reader, RangeReader::Open(stored.bytes));
    columns.push_back({input, type, stored, std::move(reader)});
  }
  if (columns.empty()) {
    return UserError(flag, " ", path, ": there is no input that it could give values to");
  }
  const bool counted = std::any_of(columns.begin(), columns.end(),
                                   [](const Column& column) { return column.type.examples >= 0; });
  const int64_t in_step = ExamplesInStep(ports, entry);
  if (!counted || in_step < 1) {
    return UserError(flag, " ", path, ": no input has a dimension that counts examples, as far as ",
                     "is known: plan the model with --batch-dim NAME or --batch-dim ",
                     "INPUT:DIMENSION, or give a folder with test_data_set_0, test_data_set_1, ",
                     "..., a batch each");
  }
  YUBA_ASSIGN_OR_RETURN(const int64_t examples, CountExamples(columns, in_step, flag));
  return std::make_shared<ExampleBatches>(path, std::move(columns), examples, in_step, seed);
}

}  // namespace yuba::tools
