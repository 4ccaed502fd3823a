#include "compiler/import/translate/stored_sources.h"

#include <fnmatch.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/import/file/read.h"
#include "compiler/import/translate/node.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

class StoredReader {
 public:
  StoredReader(const SourceFile& file, OnnxGraph& graph) : file_(file), graph_(graph) {}

  absl::Status Add() {
    std::set<std::string> read;
    for (const int n : file_.order.nodes) {
      const std::vector<std::string> reads = ReadsOf(file_.proto.node(n));
      read.insert(reads.begin(), reads.end());
    }
    for (const ::onnx::ValueInfoProto& output : file_.proto.output()) read.insert(output.name());
    for (const ::onnx::TensorProto& tensor : file_.proto.initializer()) {
      if (read.count(tensor.name()) == 0) continue;
      if (const int earlier = InEarlierEntry(tensor); earlier >= 0) {
        graph_.by_name[tensor.name()] = earlier;
        continue;
      }
      YUBA_RETURN_IF_ERROR(AddInitializer(tensor));
    }
    return absl::OkStatus();
  }

 private:
  // Whether a number is a parameter, not a literal as an epsilon or an exponent.
  bool IsParameterOfOne(const OnnxValue& value) const {
    if (file_.order.initialization.count(value.name) > 0) return true;
    if (value.role.word == StoredRole::Word::kParameter) return true;
    if (value.role.word == StoredRole::Word::kNone && value.role.operand) return true;
    return file_.options.train.has_value() &&
           std::any_of(file_.options.train->trainable.begin(), file_.options.train->trainable.end(),
                       [&](const std::string& pattern) {
                         return fnmatch(pattern.c_str(), value.name.c_str(), 0) == 0;
                       });
  }

  // The initializer as an earlier entry has it, at the same batch; -1 where none has.
  int InEarlierEntry(const ::onnx::TensorProto& tensor) const {
    const auto found = graph_.earlier.find(NameOfStored(tensor.name()));
    if (found == graph_.earlier.end()) return -1;
    std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    const auto other = graph_.at_batch.find(tensor.name());
    if (other != graph_.at_batch.end()) dims = other->second.dims;
    for (const int value : found->second) {
      if (graph_.values[value].dims == dims) return value;
    }
    return -1;
  }

  absl::Status AddInitializer(const ::onnx::TensorProto& tensor) {
    OnnxValue value;
    value.name = NameOfStored(tensor.name());
    value.stored = true;
    if (const auto role = file_.order.roles.find(tensor.name()); role != file_.order.roles.end())
      value.role = role->second;
    if (IsExternal(tensor)) {
      YUBA_ASSIGN_OR_RETURN(StoredTensor stored, LocateTensor(tensor, file_.folder));
      value.type = stored.type;
      value.dims = std::move(stored.dims);
      value.initial.range = std::move(stored.bytes);
      value.initial.kind = compiler::InitialValue::kFile;
    }
    const auto other = graph_.at_batch.find(tensor.name());
    const bool at_batch = other != graph_.at_batch.end() && other->second.data != nullptr;
    const bool stays = IsExternal(tensor) && !at_batch &&
                       ElementCount(TensorType{value.type, value.dims}) > kKnownElements;
    if (at_batch) {
      YUBA_ASSIGN_OR_RETURN(value.type, ElementTypeFromOnnx(tensor.data_type()));
      value.dims = other->second.dims;
      value.initial = compiler::InitialValue{compiler::InitialValue::kData, other->second.data};
    } else if (!stays) {
      YUBA_ASSIGN_OR_RETURN(TensorData read, ReadTensor(tensor, file_.folder));
      value.type = read.type;
      value.dims = std::move(read.dims);
      value.initial = compiler::InitialValue{
          compiler::InitialValue::kData, std::make_shared<const std::string>(std::move(read.data))};
    }
    const int64_t elements = ElementCount(TensorType{value.type, value.dims});
    const auto bound = file_.options.bind.find(value.name);
    if (bound != file_.options.bind.end() && elements == 1) {
      YUBA_RETURN_IF_ERROR(CheckBound(bound->second, "the stored number", value, true));
      value.initial.data = std::make_shared<const std::string>(bound->second.data);
    }
    const bool parameter = IsFloat(value.type) && (elements != 1 || IsParameterOfOne(value)) &&
                           // zeros, as the first states of a recurrence
                           !(at_batch && file_.options.train.has_value());
    value.kind = parameter                            ? TensorKind::kParameter
                 : IsState(file_.options, value.name) ? TensorKind::kState
                                                      : TensorKind::kConstant;
    if (value.kind == TensorKind::kConstant && !stays && elements <= kKnownElements) {
      value.known = std::make_shared<const TensorValue>(
          compiler::ValueFromBytes(value.type, value.dims, *value.initial.data));
    }
    graph_.by_name[value.name] = static_cast<int>(graph_.values.size());
    graph_.by_name[tensor.name()] = static_cast<int>(graph_.values.size());
    graph_.values.push_back(std::move(value));
    return absl::OkStatus();
  }

  // What people call an initializer: by its parameter in the user's program, where it is one in
  // another form.
  std::string NameOfStored(const std::string& name) const {
    const auto role = file_.order.roles.find(name);
    const bool formed = role != file_.order.roles.end() && role->second.form.has_value();
    return formed ? NameOf(*role->second.form) : name;
  }

  const SourceFile& file_;
  OnnxGraph& graph_;
};

}  // namespace

absl::Status AddStored(const SourceFile& file, OnnxGraph& graph) {
  return StoredReader(file, graph).Add();
}

bool IsState(const ImportOptions& options, const std::string& name) {
  return std::any_of(options.state.begin(), options.state.end(),
                     [&](const auto& pair) { return pair.second == name; });
}

absl::Status CheckBound(const TensorData& bound, const char* what, const OnnxValue& value,
                        bool any_rank) {
  const int64_t elements = ElementCount(TensorType{bound.type, bound.dims});
  const bool fits = bound.dims == value.dims || (any_rank && elements == 1);
  if (bound.type != value.type || !fits) {
    return UserError("--bind ", value.name, ": the value is ", Name(bound.type), "[",
                     absl::StrJoin(bound.dims, ", "), "], ", what, " ", Name(value.type), "[",
                     absl::StrJoin(value.dims, ", "), "]; give a value of that type and shape");
  }
  if (static_cast<int64_t>(bound.data.size()) != elements * ByteSize(bound.type))
    return UserError("--bind ", value.name, ": the value has ", bound.data.size(), " bytes");
  return absl::OkStatus();
}

}  // namespace yuba::onnx
