// Attention, or its gradients, as plain data; how it is cut into parts.
//
// Of queries q [batch, heads, queries, width], keys k [batch, key_heads, keys, width] and values v
// [batch, key_heads, keys, value_width], where heads / key_heads heads in a row share keys:
//   scores = scale q kᵀ + bias, and -∞ where the mask hides a key from a query
//   o = softmax(scores) v    [batch, heads, queries, value_width]
//   statistics = log Σ exp scores, over the keys    [batch, heads, queries], f32, dense
// Backward, from do, the gradient of o, and what forward read and wrote: dq, dk and dv. Scores,
// sums and the softmax are f32; the softmax and the gradient of the scores are rounded to the
// tensors' type before they are multiplied again, and so is, with shared keys, the share of each
// head in dk and dv.
//
// Example: GPT-2's causal attention of 4 x 128 positions, 12 heads of 64, from tensors that lie as
// [batch, position, head, width].
//   AttentionRoutine routine;
//   routine.batch = 4, routine.heads = routine.key_heads = 12;
//   routine.queries = routine.keys = 128, routine.width = routine.value_width = 64;
//   routine.scale = 0.125f;
//   for (AttentionTensor& tensor : routine.tensors) tensor.strides = {128 * 768, 64, 768, 1};
//   routine.causal.emplace();
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_ATTENTION_ROUTINE_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_ATTENTION_ROUTINE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/element_type.h"

namespace yuba::cuda {

// The tensors of an attention, in either direction.
enum AttentionOperand {
  kQuery,
  kKey,
  kValue,
  kAttended,  // o: written forward, read backward
  kAttendedGradient,
  kQueryGradient,
  kKeyGradient,
  kValueGradient,
  kAttentionTensors,                   // the number of those above, which are all of one type
  kAttentionBias = kAttentionTensors,  // read where there is one
  kStatistics,                         // written forward where asked for, read backward
  kAttentionOperands
};

struct AttentionTensor {
  std::array<int64_t, 4> strides = {};  // of batch, head, position and width, in elements
  int64_t alignment = 16;               // of its first element, bytes
};

// Added to the scaled scores; of extents [batch, heads, queries, keys]. A stride of 0: the same for
// all of that dimension.
struct AttentionBias {
  ElementType type = ElementType::kF32;
  AttentionTensor tensor;
};

// A query sees the keys up to its own number + `offset`. Others get the score `masked`.
struct CausalMask {
  int64_t offset = 0;
  float masked = -std::numeric_limits<float>::infinity();
};

struct AttentionRoutine {
  bool backward = false;
  ElementType type = ElementType::kBF16;  // of all tensors but bias and statistics
  int64_t batch = 1, heads = 1, key_heads = 1, queries = 1, keys = 1, width = 1, value_width = 1;
  float scale = 1;
  std::array<AttentionTensor, kAttentionTensors> tensors;  // forward: the first four
  absl::optional<CausalMask> causal;
  absl::optional<AttentionBias> bias;
  bool statistics = false;  // forward: whether they are written
  // Backward: bytes of scores that are held at a time, where the batch and the heads can be done in
  // parts; 2 for each. Smaller parts give the same bits, and start more kernels.
  int64_t most_score_bytes = int64_t{256} << 20;

  bool operator==(const AttentionRoutine& other) const;
};

// The routine as parts of the batch and of the heads, all alike, that one call computes each.
struct AttentionParts {
  AttentionRoutine part;
  // Where each part begins in each operand, bytes.
  std::vector<std::array<int64_t, kAttentionOperands>> offsets;
};
AttentionParts PartsOf(const AttentionRoutine& routine);

// Bytes of the scores that gradients in one part store, of the shares of heads in dk and dv where
// heads share keys, and of all tensors that the routine reads or writes.
int64_t ScoreBytes(const AttentionRoutine& routine);
int64_t ShareBytes(const AttentionRoutine& routine);
int64_t TensorBytes(const AttentionRoutine& routine);

// For people: "bf16, 8 x 16 heads, 1024 queries by 1024 keys of 64, causal".
std::string TextOf(const AttentionRoutine& routine);

// The extents of a tensor: batch, heads, positions, width.
std::array<int64_t, 4> ExtentsOf(const AttentionRoutine& routine, AttentionOperand tensor);

// The tensors that the routine reads or writes: a range of AttentionOperand.
inline int TensorsOf(const AttentionRoutine& routine) {
  return routine.backward ? kAttentionTensors : kAttended + 1;
}

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_ATTENTION_ROUTINE_H_
