#include "runtime/program/library_windows.h"

#include <algorithm>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/check.h"

namespace yuba::runtime {

ConvolutionTensors TensorsOf(program::LibraryCall::Kind kind) {
  constexpr auto left = LibraryTensor::kLeft, right = LibraryTensor::kRight,
                 result = LibraryTensor::kResult;
  YUBA_CHECK(kind != program::LibraryCall::CONTRACTION);
  if (kind == program::LibraryCall::DATA_GRADIENT) return {result, right, left};
  if (kind == program::LibraryCall::WEIGHT_GRADIENT) return {left, result, right};
  return {left, right, result};
}

const program::Access& AccessOf(const LoadedProgram& program, const program::Kernel& kernel,
                                LibraryTensor tensor) {
  if (tensor == LibraryTensor::kResult) return kernel.results(0);
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  return kernel.operands(tensor == LibraryTensor::kLeft ? call.left() : call.right());
}

WindowParts WindowHits(const program::LibraryWindow& window, const WindowParts& parts) {
  WindowParts hits;
  if (parts.output.empty() || parts.input.empty()) return hits;
  const int64_t stride = window.stride();
  for (int64_t tap = parts.taps.begin; tap < parts.taps.end; ++tap) {
    const int64_t shift = tap * window.dilation() - window.low();
    // The outputs p with input.begin <= p*stride + shift < input.end.
    const int64_t first =
        std::max(parts.output.begin, -FloorDiv(shift - parts.input.begin, stride));
    const int64_t last =
        std::min(parts.output.end - 1, FloorDiv(parts.input.end - 1 - shift, stride));
    if (first > last) continue;
    hits.output = Hull(hits.output, {first, last + 1});
    hits.taps = Hull(hits.taps, {tap, tap + 1});
    hits.input = Hull(hits.input, {first * stride + shift, last * stride + shift + 1});
  }
  return hits;
}

WindowParts PartsOf(const LoadedProgram& program, const program::Kernel& kernel,
                    const program::LibraryWindow& window, int device) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  const ConvolutionTensors tensors = TensorsOf(call.kind());
  const auto part = [&](int index, int dim, LibraryTensor tensor) {
    if (dim < 0) return Interval{0, 1};
    const program::Access& access = AccessOf(program, kernel, tensor);
    const Interval numbers =
        index >= 0 ? program.IntervalOf(kernel.indices(index), device)
                   : Interval{0, program.message().buffers(access.buffer()).dims(dim)};
    if (tensor != LibraryTensor::kResult) return numbers;
    return Intersect(numbers, program.BoxOf(access.box(), device)[dim]);
  };
  return {part(window.output(), window.output_dim(), tensors.output),
          part(window.kernel(), window.filter_dim(), tensors.filter),
          part(window.input(), window.input_dim(), tensors.input)};
}

}  // namespace yuba::runtime
