// The part of validation that knows what contractions, convolutions and their gradients are.
#include <algorithm>
#include <array>

#include "opsemantics/base/status.h"
#include "runtime/program/enums.h"
#include "runtime/program/library_windows.h"
#include "runtime/program/post_ops.h"
#include "runtime/program/program.h"
#include "runtime/program/validate.h"

namespace yuba::runtime {
namespace {

constexpr int kMostWindows = 3;
constexpr int64_t kMostTaps = int64_t{1} << 20;
constexpr int64_t kLargestStep = int64_t{1} << 20;
constexpr int64_t kLargestOffset = int64_t{1} << 40;

// An index of a role runs along these tensors, and along no other.
struct Role {
  const char* name;
  std::array<bool, 3> tensors;  // [LibraryTensor]
};

absl::Status CheckRole(const google::protobuf::RepeatedPtrField<program::LibraryIndex>& indices,
                       const Role& role) {
  for (const program::LibraryIndex& index : indices) {
    const std::array<bool, 3> has = {index.left_dim() >= 0, index.right_dim() >= 0,
                                     index.result_dim() >= 0};
    if (has != role.tensors) {
      return UserError("a ", role.name, " index that runs along the wrong tensors");
    }
  }
  return absl::OkStatus();
}

// All tensors but one.
std::array<bool, 3> Without(LibraryTensor tensor) {
  std::array<bool, 3> tensors = {true, true, true};
  tensors[static_cast<size_t>(tensor)] = false;
  return tensors;
}

const char* NameOf(program::LibraryCall::Kind kind) {
  switch (kind) {
    case program::LibraryCall::CONVOLUTION: return "convolution";
    case program::LibraryCall::DATA_GRADIENT: return "data gradient of a convolution";
    case program::LibraryCall::WEIGHT_GRADIENT: return "weight gradient of a convolution";
    default: return "contraction";
  }
}

// Libraries multiply f64 and f32, and the small floats in f32.
absl::Status CheckTypes(const program::LibraryCall& call) {
  if (!program::LibraryCall::Kind_IsValid(call.kind())) {
    return UserError("no kind ", call.kind(), " of library calls");
  }
  if (!program::ElementType_IsValid(call.type()) ||
      !program::ElementType_IsValid(call.accumulator())) {
    return UserError("a library call on no element type");
  }
  const ElementType type = FromProto(call.type()), accumulator = FromProto(call.accumulator());
  const bool in_f32 =
      type == ElementType::kF32 || type == ElementType::kBF16 || type == ElementType::kF16;
  const bool in_f64 = type == ElementType::kF64;
  if ((in_f32 && accumulator == ElementType::kF32) || (in_f64 && accumulator == type))
    return absl::OkStatus();
  return UserError("a ", NameOf(call.kind()), " of ", Name(type), " accumulated in ",
                   Name(accumulator), ", which no library has here");
}

absl::Status CheckWindow(const program::LibraryWindow& window) {
  if (window.stride() < 1 || window.stride() > kLargestStep || window.dilation() < 1 ||
      window.dilation() > kLargestStep || window.low() > kLargestOffset ||
      window.low() < -kLargestOffset) {
    return UserError("a window of stride ", window.stride(), ", dilation ", window.dilation(),
                     " and padding ", window.low());
  }
  if ((window.output() >= 0 && window.output_dim() < 0) ||
      (window.kernel() >= 0 && window.filter_dim() < 0) ||
      (window.input() >= 0 && window.input_dim() < 0)) {
    return UserError("a window's index that runs along no dimension");
  }
  return absl::OkStatus();
}

// One operand or the result on one device: which of its dimensions are accounted for.
class Tensor {
 public:
  Tensor(const LoadedProgram& program, const program::Access& access, int device, bool untouched)
      : buffer_(program.BufferBox(access.buffer(), device)),
        access_(program.BoxOf(access.box(), device)),
        type_(program.type(access.buffer())),
        taken_(buffer_.size()),
        untouched_(untouched) {}

  // An index runs over `part` along dimension `d`. Where any of the call's indices runs over
  // nothing, no memory is touched and the boxes may be anything.
  absl::Status Take(int d, const Interval& part) {
    if (d < 0 || d >= static_cast<int>(buffer_.size()) || taken_[d]) {
      return UserError("dimension ", d, " is not there or named twice");
    }
    taken_[d] = true;
    if (untouched_ || buffer_[d].Contains(part)) return absl::OkStatus();
    return UserError("dimension ", d, " is used over ", ToString(part), ", the buffer has ",
                     ToString(buffer_[d]));
  }

  // `type` is the call's; `other` may be had instead.
  absl::Status Finish(const char* name, ElementType type, ElementType other) const {
    if (type_ != type && type_ != other) {
      return UserError(name, " is ", Name(type_), ", not ", Name(type));
    }
    if (!untouched_ && IsEmpty(buffer_)) {
      return UserError(name, " is used where the device holds nothing of it");
    }
    for (size_t d = 0; d < taken_.size(); ++d) {
      if (!taken_[d] && access_[d].size() > 1) {
        return UserError("no index runs along dimension ", d, " of ", name);
      }
    }
    return absl::OkStatus();
  }

 private:
  Box buffer_, access_;
  ElementType type_;
  std::vector<bool> taken_;
  bool untouched_;
};

// p, u or q of a window: the tensor with that dimension, and what of it is used.
struct WindowNumber {
  int index = -1, dim = -1;
  LibraryTensor tensor = LibraryTensor::kLeft;
  Interval part;
};

// Operands are read where the window's numbers meet, the result is written as far as it goes.
struct WindowUse {
  std::array<WindowNumber, 3> numbers;
  bool nothing_meets = false;
};

absl::StatusOr<WindowUse> UseOf(const LoadedProgram& program, const program::Kernel& kernel,
                                const program::LibraryWindow& window, int device) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  const ConvolutionTensors tensors = TensorsOf(call.kind());
  WindowUse use;
  use.numbers = {WindowNumber{window.output(), window.output_dim(), tensors.output, {}},
                 WindowNumber{window.kernel(), window.filter_dim(), tensors.filter, {}},
                 WindowNumber{window.input(), window.input_dim(), tensors.input, {}}};
  for (const WindowNumber& number : use.numbers) {
    if (number.index >= kernel.indices_size()) {
      return UserError("index ", number.index, " is not there or named twice");
    }
    const program::Access& access = AccessOf(program, kernel, number.tensor);
    if (number.dim >= program.message().buffers(access.buffer()).dims_size()) {
      return UserError("dimension ", number.dim, " is not there or named twice");
    }
  }
  const WindowParts parts = PartsOf(program, kernel, window, device);
  if (parts.taps.size() > kMostTaps) {
    return UserError("a window of ", parts.taps.size(), " taps");
  }
  const WindowParts hits = WindowHits(window, parts);
  use.nothing_meets = hits.output.empty();
  const auto part = [](const WindowNumber& number, const Interval& all, const Interval& met) {
    return number.tensor == LibraryTensor::kResult ? all : met;
  };
  use.numbers[0].part = part(use.numbers[0], parts.output, hits.output);
  use.numbers[1].part = part(use.numbers[1], parts.taps, hits.taps);
  use.numbers[2].part = part(use.numbers[2], parts.input, hits.input);
  return use;
}

// The tensors of one call on one device, and the indices that run along them.
class BoxCheck {
 public:
  BoxCheck(const LoadedProgram& program, const program::Kernel& kernel, int device)
      : program_(program),
        kernel_(kernel),
        call_(program.message().functions(kernel.function()).library()),
        device_(device),
        used_(kernel.indices_size()) {}

  absl::Status Run() {
    bool nothing_read = std::any_of(
        kernel_.indices().begin(), kernel_.indices().end(),
        [&](const program::Range& range) { return program_.IntervalOf(range, device_).empty(); });
    std::vector<WindowUse> windows;
    for (const program::LibraryWindow& window : call_.windows()) {
      YUBA_ASSIGN_OR_RETURN(windows.emplace_back(), UseOf(program_, kernel_, window, device_));
      nothing_read |= windows.back().nothing_meets;
    }
    for (LibraryTensor tensor : {LibraryTensor::kLeft, LibraryTensor::kRight})
      tensors_.emplace_back(program_, AccessOf(program_, kernel_, tensor), device_, nothing_read);
    const bool nothing_made = IsEmpty(program_.BoxOf(kernel_.results(0).box(), device_));
    tensors_.emplace_back(program_, kernel_.results(0), device_, nothing_made);
    for (const WindowUse& window : windows) YUBA_RETURN_IF_ERROR(TakeWindow(window));
    for (const auto* role :
         {&call_.batch(), &call_.groups(), &call_.rows(), &call_.columns(), &call_.inner()}) {
      for (const program::LibraryIndex& index : *role) YUBA_RETURN_IF_ERROR(TakeIndex(index));
    }
    const ElementType type = FromProto(call_.type());
    YUBA_RETURN_IF_ERROR(tensors_[0].Finish("the left operand", type, type));
    YUBA_RETURN_IF_ERROR(tensors_[1].Finish("the right operand", type, type));
    YUBA_RETURN_IF_ERROR(tensors_[2].Finish("the result", type, FromProto(call_.accumulator())));
    if (call_.post_ops().empty()) return absl::OkStatus();
    return ValidatePostOperands(program_, kernel_, Written(), device_);
  }

 private:
  absl::Status Use(int index) {
    if (index < 0 || index >= kernel_.indices_size() || used_[index]) {
      return UserError("index ", index, " is not there or named twice");
    }
    used_[index] = true;
    return absl::OkStatus();
  }

  absl::Status TakeWindow(const WindowUse& window) {
    for (const WindowNumber& number : window.numbers) {
      if (number.index >= 0) YUBA_RETURN_IF_ERROR(Use(number.index));
      if (number.dim < 0) continue;
      Tensor& tensor = tensors_[static_cast<size_t>(number.tensor)];
      YUBA_RETURN_IF_ERROR(tensor.Take(number.dim, number.part));
    }
    return absl::OkStatus();
  }

  absl::Status TakeIndex(const program::LibraryIndex& index) {
    YUBA_RETURN_IF_ERROR(Use(index.index()));
    const Interval part = program_.IntervalOf(kernel_.indices(index.index()), device_);
    const int dims[] = {index.left_dim(), index.right_dim(), index.result_dim()};
    for (size_t t = 0; t < tensors_.size(); ++t) {
      if (dims[t] >= 0) YUBA_RETURN_IF_ERROR(tensors_[t].Take(dims[t], part));
    }
    return absl::OkStatus();
  }

  // What the call writes of the result.
  Box Written() const {
    Box written = program_.BoxOf(kernel_.results(0).box(), device_);
    if (IsEmpty(written)) return written;
    for (const auto* role : {&call_.batch(), &call_.groups(), &call_.rows(), &call_.columns()}) {
      for (const program::LibraryIndex& index : *role) {
        if (index.result_dim() < 0) continue;
        written[index.result_dim()] = program_.IntervalOf(kernel_.indices(index.index()), device_);
      }
    }
    for (const program::LibraryWindow& window : call_.windows()) {
      const WindowParts parts = PartsOf(program_, kernel_, window, device_);
      if (TensorsOf(call_.kind()).output == LibraryTensor::kResult && window.output_dim() >= 0)
        written[window.output_dim()] = parts.output;
    }
    return written;
  }

  const LoadedProgram& program_;
  const program::Kernel& kernel_;
  const program::LibraryCall& call_;
  const int device_;
  std::vector<Tensor> tensors_;  // [LibraryTensor]
  std::vector<bool> used_;       // [index]
};

}  // namespace

absl::Status ValidateLibraryRoles(const program::LibraryCall& call) {
  YUBA_RETURN_IF_ERROR(CheckTypes(call));
  YUBA_RETURN_IF_ERROR(ValidatePostOps(call));
  const bool contraction = call.kind() == program::LibraryCall::CONTRACTION;
  if (contraction != (call.windows_size() == 0)) {
    return UserError("a ", NameOf(call.kind()), " with ", call.windows_size(), " windows");
  }
  if (call.windows_size() > kMostWindows) {
    return UserError("a ", NameOf(call.kind()), " over ", call.windows_size(),
                     " dimensions; at most 3 are possible");
  }
  for (const program::LibraryWindow& window : call.windows()) {
    YUBA_RETURN_IF_ERROR(CheckWindow(window));
  }
  if (contraction) {
    if (call.groups_size() > 0) return UserError("a contraction with group indices");
    YUBA_RETURN_IF_ERROR(CheckRole(call.batch(), {"batch", {true, true, true}}));
    YUBA_RETURN_IF_ERROR(CheckRole(call.rows(), {"row", Without(LibraryTensor::kRight)}));
    YUBA_RETURN_IF_ERROR(CheckRole(call.columns(), {"column", Without(LibraryTensor::kLeft)}));
    return CheckRole(call.inner(), {"inner", Without(LibraryTensor::kResult)});
  }
  if (call.rows_size() > 0) return UserError("a ", NameOf(call.kind()), " with row indices");
  const ConvolutionTensors tensors = TensorsOf(call.kind());
  YUBA_RETURN_IF_ERROR(CheckRole(call.batch(), {"batch", Without(tensors.filter)}));
  YUBA_RETURN_IF_ERROR(CheckRole(call.groups(), {"group", {true, true, true}}));
  YUBA_RETURN_IF_ERROR(CheckRole(call.columns(), {"column", Without(tensors.input)}));
  return CheckRole(call.inner(), {"inner", Without(tensors.output)});
}

absl::Status ValidateLibraryBoxes(const LoadedProgram& program, const program::Kernel& kernel,
                                  int device) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  if (call.left() < 0 || call.left() >= kernel.operands_size() || call.right() < 0 ||
      call.right() >= kernel.operands_size()) {
    return UserError("a library call on operands that are not there");
  }
  return BoxCheck(program, kernel, device).Run();
}

}  // namespace yuba::runtime
