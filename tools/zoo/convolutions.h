// Layers of images and volumes, [batch, channels, lengths...], in two or three dimensions.
#ifndef YUBA_TOOLS_ZOO_CONVOLUTIONS_H_
#define YUBA_TOOLS_ZOO_CONVOLUTIONS_H_

#include <string>

#include "tools/zoo/graph_builder.h"

namespace yuba::zoo {

// The same in all dimensions. A kernel of odd size is padded so that a stride of 1 keeps lengths.
struct Window {
  int64_t kernel = 1, stride = 1;
};

// With weight [channels, x's channels, kernel...], normal as He has it by what it writes, and no
// bias.
Value Convolution(GraphBuilder& builder, const std::string& name, const Value& x, int64_t channels,
                  const Window& window);
// Doubles the lengths, by a kernel and a stride of 2; with bias.
Value UpConvolution(GraphBuilder& builder, const std::string& name, const Value& x,
                    int64_t channels);
// In training mode: normalizes by the statistics of the batch, and keeps running ones.
Value BatchNorm(GraphBuilder& builder, const std::string& name, const Value& x);
Value MaxPool(GraphBuilder& builder, const Value& x, const Window& window);
// The mean over all lengths: [batch, channels].
Value GlobalMean(GraphBuilder& builder, const Value& x);

}  // namespace yuba::zoo

#endif  // YUBA_TOOLS_ZOO_CONVOLUTIONS_H_
