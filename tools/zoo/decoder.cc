#include "tools/zoo/decoder.h"

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/attention.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

constexpr float kEpsilon = 1e-5f;

struct Heads {
  int64_t queries = 1, keys = 1;
};

Value SelfAttention(GraphBuilder& builder, const Value& x, const Heads& heads,
                    const RotaryTables& rotary, const Value& mask) {
  const Scope scope(builder, "self_attn");
  const int64_t width = x.dims[2], shared = width / heads.queries * heads.keys;
  const Value q = SplitHeads(builder, PlainLinear(builder, "q_proj", x, width), heads.queries);
  const Value k = SplitHeads(builder, PlainLinear(builder, "k_proj", x, shared), heads.keys);
  const Value v = SplitHeads(builder, PlainLinear(builder, "v_proj", x, shared), heads.keys);
  const int64_t times = heads.queries / heads.keys;
  const Value mixed = Attention(builder, Rotate(builder, q, rotary),
                                RepeatHeads(builder, Rotate(builder, k, rotary), times),
                                RepeatHeads(builder, v, times), mask);
  return PlainLinear(builder, "o_proj", mixed, width);
}

}  // namespace

Value PlainLinear(GraphBuilder& builder, const std::string& name, const Value& x, int64_t width) {
  LinearOptions options;
  options.width = width;
  options.weight = Normal(kDecoderDeviation);
  options.has_bias = false;
  return Linear(builder, name, x, options);
}

absl::Status BuildDecoder(const Sizes& sizes, GraphBuilder& builder,
                          const std::function<Value(const Value& x)>& feed_forward) {
  YUBA_RETURN_IF_ERROR(CheckMultiple(sizes, "width", "heads"));
  YUBA_RETURN_IF_ERROR(CheckMultiple(sizes, "heads", "kv-heads"));
  const int64_t width = sizes.at("width"), sequence = sizes.at("sequence"),
                size = width / sizes.at("heads");
  if (size % 2 != 0) {
    return UserError("a head has --width / --heads = ", size, " elements, and rotary positions ",
                     "turn pairs of them: give an even number");
  }
  const Value ids = builder.Input("ids", ElementType::kI64, {sizes.at("batch"), sequence});
  const Heads heads = {sizes.at("heads"), sizes.at("kv-heads")};
  const RotaryTables rotary =
      MakeRotaryTables(builder, sequence, size, static_cast<double>(sizes.at("theta")));
  const Value mask = CausalMask(builder, sequence);
  Value x =
      Embedding(builder, "embed_tokens", ids, sizes.at("vocab"), width, Normal(kDecoderDeviation));
  for (int64_t layer = 0; layer < sizes.at("layers"); ++layer) {
    const Scope scope(builder, absl::StrCat("layers.", layer));
    const Value normal = RmsNorm(builder, "input_layernorm", x, kEpsilon);
    x = Binary(builder, "Add", x, SelfAttention(builder, normal, heads, rotary, mask));
    const Value fed = feed_forward(RmsNorm(builder, "post_attention_layernorm", x, kEpsilon));
    x = Binary(builder, "Add", x, fed);
  }
  const Value last = RmsNorm(builder, "norm", x, kEpsilon);
  builder.Output("logits", PlainLinear(builder, "lm_head", last, sizes.at("vocab")));
  return absl::OkStatus();
}

}  // namespace yuba::zoo
