// The part of validation that knows what a contraction and a convolution are.
#include <algorithm>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/status.h"
#include "runtime/program/enums.h"
#include "runtime/program/program.h"
#include "runtime/program/validate.h"

namespace yuba::runtime {
namespace {

constexpr int kMostWindows = 3;
constexpr int64_t kMostTaps = int64_t{1} << 20;
constexpr int64_t kLargestStep = int64_t{1} << 20;
constexpr int64_t kLargestOffset = int64_t{1} << 40;

// Which of left, right and result an index of a role runs along.
struct Role {
  const char* name;
  bool left, right, result;
};

absl::Status CheckRole(const google::protobuf::RepeatedPtrField<program::LibraryIndex>& indices,
                       const Role& role) {
  for (const program::LibraryIndex& index : indices) {
    if ((index.left_dim() >= 0) != role.left || (index.right_dim() >= 0) != role.right ||
        (index.result_dim() >= 0) != role.result) {
      return UserError("a ", role.name, " index that runs along the wrong tensors");
    }
  }
  return absl::OkStatus();
}

// Libraries multiply f32, and the small floats in f32; convolutions are of f32 alone.
absl::Status CheckTypes(const program::LibraryCall& call) {
  if (!program::LibraryCall::Kind_IsValid(call.kind())) {
    return UserError("no kind ", call.kind(), " of library calls");
  }
  if (!program::ElementType_IsValid(call.type()) ||
      !program::ElementType_IsValid(call.accumulator())) {
    return UserError("a library call on no element type");
  }
  const ElementType type = FromProto(call.type()), accumulator = FromProto(call.accumulator());
  const bool convolution = call.kind() == program::LibraryCall::CONVOLUTION;
  const bool possible = type == ElementType::kF32 ||
                        (!convolution && (type == ElementType::kBF16 || type == ElementType::kF16));
  if (possible && accumulator == ElementType::kF32) return absl::OkStatus();
  return UserError("a ", convolution ? "convolution" : "contraction", " of ", Name(type),
                   " accumulated in ", Name(accumulator), ", which no library has here");
}

absl::Status CheckWindow(const program::LibraryWindow& window) {
  if (window.stride() < 1 || window.stride() > kLargestStep || window.dilation() < 1 ||
      window.dilation() > kLargestStep || window.low() > kLargestOffset ||
      window.low() < -kLargestOffset) {
    return UserError("a window of stride ", window.stride(), ", dilation ", window.dilation(),
                     " and padding ", window.low());
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

}  // namespace

Interval WindowReads(const program::LibraryWindow& window, int64_t extent, const Interval& output,
                     const Interval& taps) {
  Interval hit;
  for (int64_t tap = taps.begin; tap < taps.end && !output.empty(); ++tap) {
    const int64_t shift = tap * window.dilation() - window.low();
    // The outputs p with 0 <= p*stride + shift < extent.
    const int64_t first = std::max(output.begin, -FloorDiv(shift, window.stride()));
    const int64_t last = std::min(output.end - 1, FloorDiv(extent - 1 - shift, window.stride()));
    if (first > last) continue;
    hit = Hull(hit, {first * window.stride() + shift, last * window.stride() + shift + 1});
  }
  return hit;
}

absl::Status ValidateLibraryRoles(const program::LibraryCall& call) {
  YUBA_RETURN_IF_ERROR(CheckTypes(call));
  const bool convolution = call.kind() == program::LibraryCall::CONVOLUTION;
  if (convolution != (call.windows_size() > 0)) {
    return UserError("a ", convolution ? "convolution" : "contraction", " with ",
                     call.windows_size(), " windows");
  }
  if (call.windows_size() > kMostWindows) {
    return UserError("a convolution over ", call.windows_size(),
                     " dimensions; at most 3 are possible");
  }
  for (const program::LibraryWindow& window : call.windows()) {
    YUBA_RETURN_IF_ERROR(CheckWindow(window));
  }
  if (convolution && call.rows_size() > 0) return UserError("a convolution with row indices");
  if (!convolution && call.groups_size() > 0) return UserError("a contraction with group indices");
  YUBA_RETURN_IF_ERROR(CheckRole(call.batch(), {"batch", true, !convolution, true}));
  YUBA_RETURN_IF_ERROR(CheckRole(call.groups(), {"group", true, true, true}));
  YUBA_RETURN_IF_ERROR(CheckRole(call.rows(), {"row", true, false, true}));
  YUBA_RETURN_IF_ERROR(CheckRole(call.columns(), {"column", false, true, true}));
  return CheckRole(call.inner(), {"inner", true, true, false});
}

absl::Status ValidateLibraryBoxes(const LoadedProgram& program, const program::Kernel& kernel,
                                  int device) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  if (call.left() < 0 || call.left() >= kernel.operands_size() || call.right() < 0 ||
      call.right() >= kernel.operands_size()) {
    return UserError("a library call on operands that are not there");
  }
  std::vector<bool> used(kernel.indices_size());
  auto use = [&](int index) -> absl::StatusOr<Interval> {
    if (index < 0 || index >= kernel.indices_size() || used[index]) {
      return UserError("index ", index, " is not there or named twice");
    }
    used[index] = true;
    return program.IntervalOf(kernel.indices(index), device);
  };
  const bool nothing_read = std::any_of(
      kernel.indices().begin(), kernel.indices().end(),
      [&](const program::Range& range) { return program.IntervalOf(range, device).empty(); });
  const bool nothing_made = IsEmpty(program.BoxOf(kernel.results(0).box(), device));
  Tensor right(program, kernel.operands(call.right()), device, nothing_read);
  Tensor result(program, kernel.results(0), device, nothing_made);
  std::vector<Interval> hits;  // by window
  bool only_padding = false;
  const program::Buffer& input = program.stage().buffers(kernel.operands(call.left()).buffer());
  for (const program::LibraryWindow& window : call.windows()) {
    YUBA_ASSIGN_OR_RETURN(const Interval output, use(window.output()));
    YUBA_ASSIGN_OR_RETURN(const Interval taps, use(window.kernel()));
    const int d = window.input_dim();
    if (taps.size() > kMostTaps) return UserError("a window of ", taps.size(), " taps");
    const int64_t extent = d < 0 || d >= input.dims_size() ? 0 : input.dims(d);
    hits.push_back(WindowReads(window, extent, output, taps));
    only_padding |= hits.back().empty();
    YUBA_RETURN_IF_ERROR(right.Take(window.filter_dim(), taps));
    YUBA_RETURN_IF_ERROR(result.Take(window.result_dim(), output));
  }
  Tensor left(program, kernel.operands(call.left()), device, nothing_read || only_padding);
  for (int w = 0; w < call.windows_size(); ++w) {
    YUBA_RETURN_IF_ERROR(left.Take(call.windows(w).input_dim(), hits[w]));
  }
  for (const auto* role :
       {&call.batch(), &call.groups(), &call.rows(), &call.columns(), &call.inner()}) {
    for (const program::LibraryIndex& index : *role) {
      YUBA_ASSIGN_OR_RETURN(const Interval part, use(index.index()));
      if (index.left_dim() >= 0) YUBA_RETURN_IF_ERROR(left.Take(index.left_dim(), part));
      if (index.right_dim() >= 0) YUBA_RETURN_IF_ERROR(right.Take(index.right_dim(), part));
      if (index.result_dim() >= 0) {
        YUBA_RETURN_IF_ERROR(result.Take(index.result_dim(), part));
      }
    }
  }
  const ElementType type = FromProto(call.type());
  YUBA_RETURN_IF_ERROR(left.Finish("the left operand", type, type));
  YUBA_RETURN_IF_ERROR(right.Finish("the right operand", type, type));
  return result.Finish("the result", type, FromProto(call.accumulator()));
}

}  // namespace yuba::runtime
