#include "runtime/cuda/library/attention_routine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/cuda/library/attention_limits.h"

namespace yuba::cuda {
namespace {

constexpr int64_t kScoreBytes = 2;  // of a gradient of a score that is stored
// The scores of a head are stored in blocks of so many.
constexpr int64_t kQueryBlock = 64, kKeyBlock = 128;

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// The largest divisor of `total` of which `each` times it is within `most`; at least 1.
int64_t LargestPart(int64_t total, int64_t each, int64_t most) {
  for (int64_t part = total; part > 1; --part) {
    if (total % part == 0 && part * each <= most) return part;
  }
  return 1;
}

// Whether parts along a dimension of the bias begin where it may be loaded.
bool MayCutBias(const AttentionRoutine& routine, int dimension) {
  if (!routine.bias.has_value()) return true;
  return routine.bias->tensor.strides[dimension] * ByteSize(routine.bias->type) % kAttentionLoad ==
         0;
}

}  // namespace

bool AttentionRoutine::operator==(const AttentionRoutine& other) const {
  const auto same = [](const AttentionTensor& a, const AttentionTensor& b) {
    return a.strides == b.strides && a.alignment == b.alignment;
  };
  const auto numbers = [](const AttentionRoutine& r) {
    return std::array<int64_t, 8>{r.batch, r.heads, r.key_heads,   r.queries,
                                  r.keys,  r.width, r.value_width, r.most_score_bytes};
  };
  if (backward != other.backward || type != other.type || statistics != other.statistics ||
      scale != other.scale || numbers(*this) != numbers(other) ||
      causal.has_value() != other.causal.has_value() || bias.has_value() != other.bias.has_value())
    return false;
  if (causal.has_value() &&
      (causal->offset != other.causal->offset || causal->masked != other.causal->masked))
    return false;
  if (bias.has_value() &&
      (bias->type != other.bias->type || !same(bias->tensor, other.bias->tensor)))
    return false;
  return std::equal(tensors.begin(), tensors.begin() + TensorsOf(*this), other.tensors.begin(),
                    same);
}

AttentionParts PartsOf(const AttentionRoutine& routine) {
  AttentionParts made;
  AttentionRoutine& part = made.part;
  part = routine;
  if (part.causal.has_value() && part.causal->offset >= part.keys - 1) part.causal.reset();
  if (routine.backward) {
    AttentionRoutine unit = routine;  // the heads of one example that share keys
    unit.batch = 1;
    unit.heads = routine.heads / routine.key_heads;
    const int64_t bytes = ScoreBytes(unit);
    if (MayCutBias(routine, 0))
      part.batch = LargestPart(routine.batch, bytes * routine.key_heads, routine.most_score_bytes);
    if (part.batch == 1 && MayCutBias(routine, 1))
      part.key_heads = LargestPart(routine.key_heads, bytes, routine.most_score_bytes);
    part.heads = unit.heads * part.key_heads;
  }
  const int64_t element = ByteSize(routine.type);
  for (int64_t b = 0; b < routine.batch; b += part.batch) {
    for (int64_t h = 0; h < routine.key_heads; h += part.key_heads) {
      const int64_t head = h * (routine.heads / routine.key_heads);
      std::array<int64_t, kAttentionOperands> offsets = {};
      for (int t = 0; t < TensorsOf(routine); ++t) {
        const bool of_keys = t == kKey || t == kValue || t == kKeyGradient || t == kValueGradient;
        const auto& strides = routine.tensors[t].strides;
        offsets[t] = element * (b * strides[0] + (of_keys ? h : head) * strides[1]);
      }
      if (routine.bias.has_value()) {
        const auto& strides = routine.bias->tensor.strides;
        offsets[kAttentionBias] =
            ByteSize(routine.bias->type) * (b * strides[0] + head * strides[1]);
      }
      offsets[kStatistics] =
          ByteSize(ElementType::kF32) * routine.queries * (b * routine.heads + head);
      made.offsets.push_back(offsets);
    }
  }
  return made;
}

int64_t ScoreBytes(const AttentionRoutine& routine) {
  return kScoreBytes * routine.batch * routine.heads * RoundUp(routine.queries, kQueryBlock) *
         RoundUp(routine.keys, kKeyBlock);
}

int64_t ShareBytes(const AttentionRoutine& routine) {
  if (routine.heads == routine.key_heads) return 0;
  return ByteSize(routine.type) * routine.batch * routine.heads * routine.keys *
         (routine.width + routine.value_width);
}

int64_t TensorBytes(const AttentionRoutine& routine) {
  int64_t elements = 0;
  for (int t = 0; t < TensorsOf(routine); ++t) {
    int64_t of_tensor = 1;
    for (const int64_t extent : ExtentsOf(routine, static_cast<AttentionOperand>(t)))
      of_tensor *= extent;
    elements += of_tensor;
  }
  return elements * ByteSize(routine.type);
}

std::string TextOf(const AttentionRoutine& routine) {
  std::string text =
      absl::StrCat(Name(routine.type), ", ", routine.batch, " x ", routine.heads, " heads, ",
                   routine.queries, " queries by ", routine.keys, " keys of ", routine.width);
  if (routine.value_width != routine.width)
    absl::StrAppend(&text, " and values of ", routine.value_width);
  if (routine.key_heads != routine.heads)
    absl::StrAppend(&text, ", ", routine.key_heads, " heads of keys");
  if (routine.causal.has_value()) absl::StrAppend(&text, ", causal");
  if (routine.bias.has_value())
    absl::StrAppend(&text, ", with a bias of ", Name(routine.bias->type));
  return text;
}

std::array<int64_t, 4> ExtentsOf(const AttentionRoutine& routine, AttentionOperand tensor) {
  const AttentionRoutine& r = routine;
  switch (tensor) {
    case kQuery:
    case kQueryGradient: return {r.batch, r.heads, r.queries, r.width};
    case kKey:
    case kKeyGradient: return {r.batch, r.key_heads, r.keys, r.width};
    case kValue:
    case kValueGradient: return {r.batch, r.key_heads, r.keys, r.value_width};
    default: return {r.batch, r.heads, r.queries, r.value_width};
  }
}

}  // namespace yuba::cuda
