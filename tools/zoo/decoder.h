// The decoder of Llama (Touvron et al. 2023), whose feed-forward layers may be others: Mixtral's
// are mixtures of experts.
#ifndef YUBA_TOOLS_ZOO_DECODER_H_
#define YUBA_TOOLS_ZOO_DECODER_H_

#include <functional>

#include "absl/status/status.h"
#include "tools/zoo/family.h"

namespace yuba::zoo {

constexpr double kDecoderDeviation = 0.02;  // of all its weights

// A product without bias.
Value PlainLinear(GraphBuilder& builder, const std::string& name, const Value& x, int64_t width);

// Builds a decoder of the sizes batch, heads, kv-heads, layers, sequence, theta, vocab and width;
// `feed_forward` adds what stands behind the attention of each layer.
absl::Status BuildDecoder(const Sizes& sizes, GraphBuilder& builder,
                          const std::function<Value(const Value& x)>& feed_forward);

}  // namespace yuba::zoo

#endif  // YUBA_TOOLS_ZOO_DECODER_H_
