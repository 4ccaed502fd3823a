#include "runtime/host/post_op_loops.h"

#include <algorithm>
#include <cmath>

namespace yuba::runtime {
namespace {

// The fewest elements that are worth a thread: 10 us of one core, a wake-up.
constexpr int64_t kWorthThread = int64_t{1} << 15;

template <typename Function>
void Map(float* values, int64_t count, int64_t step, const Function& function) {
  for (int64_t i = 0; i < count; ++i) values[i * step] = function(values[i * step]);
}

float GeluTanh(float v) {
  constexpr float kScale = 0.7978845608028654F, kCubic = 0.044715F;
  return 0.5F * v * (1 + std::tanh(kScale * (v + kCubic * v * v * v)));
}

float GeluErf(float v) { return 0.5F * v * (1 + std::erf(v * 0.7071067811865476F)); }

// One step along a run of the result.
void RunStep(const PostOpShape& step, float* values, int64_t count, int64_t stride,
             const float* operand, int64_t operand_stride) {
  const auto each = [&](const auto& combine) {
    for (int64_t i = 0; i < count; ++i)
      values[i * stride] = combine(values[i * stride], operand[i * operand_stride]);
  };
  switch (step.kind) {
    case program::PostOp::ADD: return each([](float v, float e) { return v + e; });
    case program::PostOp::SUBTRACT: return each([](float v, float e) { return v - e; });
    case program::PostOp::MULTIPLY: return each([](float v, float e) { return v * e; });
    case program::PostOp::SCALE:
      return Map(values, count, stride,
                 [factor = static_cast<float>(step.factor)](float v) { return v * factor; });
    case program::PostOp::RELU:
      return Map(values, count, stride, [](float v) { return std::max(v, 0.0F); });
    case program::PostOp::GELU_TANH: return Map(values, count, stride, GeluTanh);
    case program::PostOp::GELU_ERF: return Map(values, count, stride, GeluErf);
    default: return;
  }
}

// The part-th of `parts` parts of the walk's outermost loop.
BoxWalk PartOf(const BoxWalk& walk, int64_t part, int64_t parts) {
  BoxWalk share = walk;
  const int64_t begin = part * walk.extents[0] / parts;
  share.extents[0] = (part + 1) * walk.extents[0] / parts - begin;
  for (WalkedBuffer& buffer : share.buffers) buffer.offset += begin * buffer.strides[0];
  return share;
}

}  // namespace

void RunPostOps(const LibraryShape& shape, const std::vector<const void*>& post, float* result,
                ThreadTeam& team) {
  const BoxWalk& walk = shape.post_op_walk;
  const int64_t parts = std::clamp<int64_t>(walk.elements() / kWorthThread, 1,
                                            std::min<int64_t>(team.threads(), walk.extents[0]));
  team.Run(static_cast<int>(parts), [&](int part) {
    ForEachRun(PartOf(walk, part, parts), [&](const std::vector<int64_t>& offsets, int64_t length) {
      for (const PostOpShape& step : shape.post_ops) {
        const float* operand = nullptr;
        int64_t stride = 0;
        if (step.number >= 0) {
          operand = static_cast<const float*>(post[step.number]) + offsets[1 + step.number];
          stride = walk.buffers[1 + step.number].strides.back();
        }
        RunStep(step, result + offsets[0], length, walk.buffers[0].strides.back(), operand, stride);
      }
    });
  });
}

}  // namespace yuba::runtime
