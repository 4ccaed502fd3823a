#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_post_ops.h"

#include <algorithm>

namespace yuba::cuda {
namespace {

using program::PostOp;

class Matcher {
 public:
  Matcher(const runtime::LibraryShape& shape, const runtime::ConvolutionGeometry& geometry,
          const CudnnRoutine& routine)
      : shape_(shape), geometry_(geometry), output_(routine.tensors[kOutput]) {}

  absl::optional<CudnnPostOps> Match() {
    if (!geometry_.sums.empty() || geometry_.has_gaps) return absl::nullopt;
    for (int step = 0; step < static_cast<int>(shape_.post_ops.size()); ++step) {
      if (made_.relu || !Take(step)) return absl::nullopt;
    }
    return made_;
  }

 private:
  bool Take(int number) {
    const runtime::PostOpShape& step = shape_.post_ops[number];
    if (step.kind == PostOp::RELU) return made_.relu = true;
    if (step.kind != PostOp::ADD) return false;
    if (made_.bias < 0 && IsBias(step.number)) {
      made_.bias = number;
      return true;
    }
    if (made_.residual >= 0 || !TakeResidual(step.number)) return false;
    made_.residual = number;
    return true;
  }

  static int64_t PostOf(const runtime::StridedIndex& index, int operand) {
    return index.extent > 1 ? index.post[operand] : 0;
  }

  // By how much a step from one channel to the next moves in the operand; nullopt where groups are
  // no continuation of channels there.
  absl::optional<int64_t> ChannelStep(int operand) const {
    const runtime::StridedIndex &group = geometry_.group, &channel = geometry_.channel;
    if (group.extent == 1) return PostOf(channel, operand);
    if (channel.extent == 1) return PostOf(group, operand);
    const int64_t step = PostOf(channel, operand);
    if (PostOf(group, operand) != channel.extent * step) return absl::nullopt;
    return step;
  }

  // Of how many elements of the result the operand has elements of their own.
  int64_t Elements(int operand) const {
    int64_t elements = 1;
    for (size_t d = 0; d < shape_.post_op_walk.extents.size(); ++d)
      if (shape_.post_op_walk.buffers[1 + operand].strides[d] != 0)
        elements *= shape_.post_op_walk.extents[d];
    return elements;
  }

  bool IsBias(int operand) const {
    const int64_t channels = output_.extents[1];
    int64_t elements = channels;
    for (const runtime::StridedIndex& loop : geometry_.loops)
      if (loop.post[operand] != 0) elements *= loop.extent;
    return Elements(operand) == elements && (channels == 1 || ChannelStep(operand) == 1);
  }

  // The step in the operand along a dimension in which the result steps by `result`.
  absl::optional<int64_t> StepAlong(int64_t result, int operand) const {
    const runtime::BoxWalk& walk = shape_.post_op_walk;
    for (size_t d = 0; d < walk.extents.size(); ++d) {
      if (walk.extents[d] > 1 && walk.buffers[0].strides[d] == result)
        return walk.buffers[1 + operand].strides[d];
    }
    return absl::nullopt;
  }

  // Steps in the operand along the dimensions of the output; those of one element have any.
  absl::optional<std::vector<int64_t>> StepsOf(int operand) const {
    std::vector<int64_t> steps = {PostOf(geometry_.batch, operand)};
    const absl::optional<int64_t> channel = ChannelStep(operand);
    if (!channel.has_value()) return absl::nullopt;
    steps.push_back(*channel);
    for (size_t d = 2; d < output_.extents.size(); ++d) {
      const absl::optional<int64_t> step =
          output_.extents[d] > 1 ? StepAlong(output_.strides[d], operand) : 0;
      if (!step.has_value()) return absl::nullopt;
      steps.push_back(*step);
    }
    return steps;
  }

  bool TakeResidual(int operand) {
    if (Elements(operand) != shape_.post_op_walk.elements()) return false;
    const absl::optional<std::vector<int64_t>> steps = StepsOf(operand);
    if (!steps.has_value()) return false;
    bool alike = true;
    std::vector<CopiedLoop> loops;
    int64_t span = 1;
    for (size_t d = 0; d < steps->size(); ++d) {
      if (output_.extents[d] == 1) continue;
      alike &= (*steps)[d] == output_.strides[d];
      loops.push_back({output_.extents[d], (*steps)[d], output_.strides[d]});
      span += (output_.extents[d] - 1) * output_.strides[d];
    }
    if (alike) return true;
    made_.copied = Merged(std::move(loops));
    made_.copied_span = span;
    return true;
  }

  static std::vector<CopiedLoop> Merged(std::vector<CopiedLoop> loops) {
    std::sort(loops.begin(), loops.end(),
              [](const CopiedLoop& a, const CopiedLoop& b) { return a.to > b.to; });
    std::vector<CopiedLoop> merged;
    for (const CopiedLoop& inner : loops) {
      if (merged.empty() || merged.back().from != inner.extent * inner.from ||
          merged.back().to != inner.extent * inner.to) {
        merged.push_back(inner);
        continue;
      }
      CopiedLoop& outer = merged.back();
      outer = {outer.extent * inner.extent, inner.from, inner.to};
    }
    return merged;
  }

  const runtime::LibraryShape& shape_;
  const runtime::ConvolutionGeometry& geometry_;
  const CudnnTensor& output_;
  CudnnPostOps made_;
};

}  // namespace

absl::optional<CudnnPostOps> PostOpsOf(const runtime::LibraryShape& shape,
                                       const runtime::ConvolutionGeometry& geometry,
                                       const CudnnRoutine& routine) {
  return Matcher(shape, geometry, routine).Match();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
