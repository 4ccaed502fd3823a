#include "tools/zoo/encoder.h"

#include "tools/zoo/attention.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {

Value EncoderLinear(GraphBuilder& builder, const std::string& name, const Value& x, int64_t width) {
  return Linear(builder, name, x, {width, Normal(kEncoderDeviation), Filled(0)});
}

Value EncoderAttention(GraphBuilder& builder, const Value& x, int64_t heads) {
  const Scope scope(builder, "attention");
  const int64_t width = x.dims[2];
  const auto part = [&](const char* name) {
    return SplitHeads(builder, EncoderLinear(builder, name, x, width), heads);
  };
  const Value q = part("query"), k = part("key"), v = part("value");
  return EncoderLinear(builder, "output", Attention(builder, q, k, v, {}), width);
}

Value EncoderFeedForward(GraphBuilder& builder, const Value& x) {
  const Scope scope(builder, "mlp");
  const int64_t width = x.dims[2];
  const Value wide = Gelu(builder, EncoderLinear(builder, "up", x, 4 * width));
  return EncoderLinear(builder, "down", wide, width);
}

}  // namespace yuba::zoo
