// The layers of BERT and of vision transformers: attention without a mask and a feed-forward layer
// four times as wide.
#ifndef YUBA_TOOLS_ZOO_ENCODER_H_
#define YUBA_TOOLS_ZOO_ENCODER_H_

#include <string>

#include "tools/zoo/graph_builder.h"

namespace yuba::zoo {

constexpr double kEncoderDeviation = 0.02;  // of all its weights; biases begin with 0

Value EncoderLinear(GraphBuilder& builder, const std::string& name, const Value& x, int64_t width);
Value EncoderAttention(GraphBuilder& builder, const Value& x, int64_t heads);
Value EncoderFeedForward(GraphBuilder& builder, const Value& x);

}  // namespace yuba::zoo

#endif  // YUBA_TOOLS_ZOO_ENCODER_H_
