#include "runtime/program/program.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/program/program_file.h"
#include "runtime/program/validate.h"

namespace yuba::runtime {
int64_t CheckedProduct(const google::protobuf::RepeatedField<int64_t>& factors) {
  int64_t product = 1;
  bool zero = false;
  for (int64_t factor : factors) {
    if (factor < 0) return -1;
    if (factor == 0)
      zero = true;
    else if (product > kMostBytes / factor)
      return -1;
    else
      product *= factor;
  }
  return zero ? 0 : product;
}

absl::StatusOr<std::shared_ptr<LoadedProgram>> LoadedProgram::FromMessage(
    program::Program message) {
  YUBA_ASSIGN_OR_RETURN(const int devices, ValidateShape(message));
  std::shared_ptr<LoadedProgram> loaded(new LoadedProgram);
  loaded->message_ = std::move(message);
  loaded->devices_ = devices;
  loaded->Flatten(loaded->stage().instructions());
  YUBA_RETURN_IF_ERROR(ValidateContent(*loaded));
  return loaded;
}

absl::StatusOr<std::shared_ptr<LoadedProgram>> LoadedProgram::FromFile(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(program::Program message, ReadProgramFile(path));
  absl::StatusOr<std::shared_ptr<LoadedProgram>> loaded = FromMessage(std::move(message));
  if (!loaded.ok()) return Annotate(loaded.status(), path);
  return loaded;
}

void LoadedProgram::DropValues() {
  for (program::Initializer& parameter : *message_.mutable_parameters()) {
    if (parameter.has_data()) delete parameter.release_data();
  }
  has_values_ = false;
}

void LoadedProgram::Flatten(
    const google::protobuf::RepeatedPtrField<program::Instruction>& instructions) {
  for (const program::Instruction& instruction : instructions) {
    const size_t at = instructions_.size();
    instructions_.emplace_back();
    if (instruction.has_kernel()) instructions_[at].kernel = &instruction.kernel();
    if (instruction.has_exchange()) instructions_[at].exchange = &instruction.exchange();
    if (!instruction.has_repeat()) continue;
    Flatten(instruction.repeat().body());
    instructions_[at].count = instruction.repeat().count();
    instructions_[at].end = static_cast<int>(instructions_.size());
  }
}

std::string LoadedProgram::Describe(int instruction) const {
  std::string text = absl::StrCat("instruction ", instruction);
  const Instruction& at = instructions_[instruction];
  if (at.kernel != nullptr) {
    absl::StrAppend(&text, " (kernel ", at.kernel->node());
    if (!at.kernel->from().empty()) absl::StrAppend(&text, ", from ", at.kernel->from());
    absl::StrAppend(&text, ")");
  } else if (at.exchange != nullptr) {
    absl::StrAppend(&text, " (", at.exchange->reduce() ? "reduce" : "gather", " of ",
                    at.exchange->tensor(), " for ", at.exchange->node(), ")");
  }
  return text;
}

int64_t LoadedProgram::Value(const program::Bound& bound, int device) const {
  int64_t position = 0;
  for (int axis : bound.axes()) {
    int64_t below = 1;  // so many consecutive devices have one coordinate on this axis
    for (int a = axis + 1; a < message_.mesh_size(); ++a) below *= message_.mesh(a).size();
    position = position * message_.mesh(axis).size() + device / below % message_.mesh(axis).size();
  }
  return bound.values(static_cast<int>(position));
}

Interval LoadedProgram::IntervalOf(const program::Range& range, int device) const {
  const int64_t begin = Value(range.begin(), device);
  return {begin, std::max(begin, Value(range.end(), device))};
}

Box LoadedProgram::BoxOf(const program::Box& box, int device) const {
  Box result;
  result.reserve(box.dims_size());
  for (const program::Range& range : box.dims()) result.push_back(IntervalOf(range, device));
  return result;
}

ElementType LoadedProgram::type(int buffer) const {
  return static_cast<ElementType>(stage().buffers(buffer).type());
}

int64_t LoadedProgram::ElementBytes(int buffer) const {
  return hash() && IsFloat(type(buffer)) ? 8 : ByteSize(type(buffer));
}

int64_t LoadedProgram::WholeElements(int buffer) const {
  return CheckedProduct(stage().buffers(buffer).dims());
}

}  // namespace yuba::runtime
