// Attention of a program (program.proto, Attention) on one device, in the terms of a library
// routine: a batch, heads of which some share keys, positions, and elements of a query and of a
// value.
//
// Example: scores s[b, h, i, j] = sum(c) q[b, i, h, c] * k[b, j, h, c] of 8 examples, 12 heads, 128
// positions and 64 elements, cut by heads over two devices, are batch 8, heads 6, queries and keys
// 128 and width 64; the strides of q are {49152, 64, 384, 1}.
#ifndef YUBA_RUNTIME_ATTENTION_GEOMETRY_H_
#define YUBA_RUNTIME_ATTENTION_GEOMETRY_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

// The tensors of attention. Those from kResultGradient on are of the second call alone.
enum class AttentionTensor : uint8_t {
  kQuery,
  kKey,
  kValue,
  kResult,
  kResultGradient,
  kQueryGradient,
  kKeyGradient,
  kValueGradient
};
constexpr int kAttentionTensors = 8;

// Where a tensor lies: its first element, in elements from the start of its buffer, and how far the
// next of each kind is. 0: all of that kind are one.
struct AttentionPlace {
  int buffer = -1;  // -1: there is no such tensor
  int64_t first = 0;
  std::array<int64_t, 4> strides = {};  // of batch, head, position and element; of a bias of batch,
                                        // head, query and key
};

struct AttentionGeometry {
  bool nothing = false;                  // the device computes nothing of it; the rest is unset
  ElementType type = ElementType::kF32;  // of all tensors but the bias
  // Heads heads / key_heads * n to heads / key_heads * (n + 1) - 1 share the keys and values of n.
  int64_t batch = 1, heads = 1, key_heads = 1, queries = 1, keys = 1, width = 1, value_width = 1;
  double scale = 1;
  bool causal = false;  // key j counts for query i where j <= i + offset; others get `hidden`
  int64_t offset = 0;   // of the device's own numbers
  double hidden = 0;
  std::array<AttentionPlace, kAttentionTensors> tensors;
  ElementType bias_type = ElementType::kF32;
  AttentionPlace bias;
  AttentionPlace row_sums;  // of batch, head and query
};

// Unimplemented, with the reason, where it has no such terms: as where two indices number heads,
// and do not lie one in the other.
absl::StatusOr<AttentionGeometry> GeometryOf(const LoadedProgram& program,
                                             const program::Attention& attention, int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_ATTENTION_GEOMETRY_H_
