// What a program says of attention (program.proto, Attention).
#ifndef YUBA_RUNTIME_PROGRAM_CHECK_ATTENTION_H_
#define YUBA_RUNTIME_PROGRAM_CHECK_ATTENTION_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

// Positions in Attention.products: the contractions of attention.
enum AttentionStep : uint8_t {
  kScores,
  kValues,
  kWeightGradients,  // those of p, and what follows of v, q and k: with gradients alone
  kValueGradients,
  kQueryGradients,
  kKeyGradients,
  kAttentionSteps
};

inline bool HasBackward(const Attention& attention) {
  return attention.backward_begin() < attention.backward_end();
}

// The instructions [begin, end) for which each of its calls stands.
std::vector<std::pair<int, int>> PartsOf(const Attention& attention);

// Buffers that the second call reads of the first one, though no kernel for which it stands need
// name them: queries, keys, values, the result, the bias and the sums of rows. Empty without
// gradients. The attention is sound.
std::vector<int> KeptOf(const Program& program, const Attention& attention);

// Whether the parts are kernels of the program, no two of which overlap, the contractions are among
// the kernels of their parts and have the operands and indices that are named, and buffers marked
// `substitute` are used by kernels of one attention alone. InvalidArgument where not. Instructions
// are sound by themselves.
absl::Status CheckAttention(const Program& program);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_CHECK_ATTENTION_H_
