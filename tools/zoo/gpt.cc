// GPT-2 and GPT-3 (Radford et al. 2019; Brown et al. 2020), with dense attention and without
// dropout: learned positions, norms in front of each block, the table of tokens shared with the
// output.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/attention.h"
#include "tools/zoo/family.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

constexpr double kDeviation = 0.02;
constexpr float kEpsilon = 1e-5f;

struct Block {
  int64_t heads = 1;
  Draw residual;  // of weights that add to the residual: smaller, the deeper the model
  Value mask;
};

Value Projection(GraphBuilder& builder, const std::string& name, const Value& x, int64_t width,
                 const Draw& weight) {
  return Linear(builder, name, x, {width, weight, Filled(0)});
}

Value SelfAttention(GraphBuilder& builder, const Value& x, const Block& block) {
  const Scope scope(builder, "attn");
  const int64_t width = x.dims[2];
  const Value all = Projection(builder, "c_attn", x, 3 * width, Normal(kDeviation));
  const std::vector<Value> parts = Split(builder, all, 2, {width, width, width});
  const Value mixed = Attention(builder, SplitHeads(builder, parts[0], block.heads),
                                SplitHeads(builder, parts[1], block.heads),
                                SplitHeads(builder, parts[2], block.heads), block.mask);
  return Projection(builder, "c_proj", mixed, width, block.residual);
}

Value FeedForward(GraphBuilder& builder, const Value& x, const Block& block) {
  const Scope scope(builder, "mlp");
  const int64_t width = x.dims[2];
  const Value wide = Projection(builder, "c_fc", x, 4 * width, Normal(kDeviation));
  return Projection(builder, "c_proj", GeluTanh(builder, wide), width, block.residual);
}

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  YUBA_RETURN_IF_ERROR(CheckMultiple(sizes, "width", "heads"));
  const int64_t width = sizes.at("width"), sequence = sizes.at("sequence"),
                vocab = sizes.at("vocab"), layers = sizes.at("layers");
  const Value ids = builder.Input("ids", ElementType::kI64, {sizes.at("batch"), sequence});
  const Value tokens = builder.Parameter("wte.weight", {vocab, width}, Normal(kDeviation));
  const Value positions = builder.Parameter("wpe.weight", {sequence, width}, Normal(kDeviation));
  const Dims stream = {ids.dims[0], sequence, width};
  Value x = builder.Apply("Gather", {tokens, ids}, stream, {{"axis", 0}});
  x = Binary(builder, "Add", x, positions);
  const Block block = {sizes.at("heads"),
                       Normal(kDeviation / std::sqrt(2.0 * static_cast<double>(layers))),
                       CausalMask(builder, sequence)};
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Scope scope(builder, absl::StrCat("h.", layer));
    const Value looked = SelfAttention(builder, LayerNorm(builder, "ln_1", x, kEpsilon), block);
    x = Binary(builder, "Add", x, looked);
    const Value fed = FeedForward(builder, LayerNorm(builder, "ln_2", x, kEpsilon), block);
    x = Binary(builder, "Add", x, fed);
  }
  const Value last = LayerNorm(builder, "ln_f", x, kEpsilon);
  builder.Output("logits", builder.Apply("MatMul", {last, Transpose(builder, tokens, {1, 0})},
                                         {ids.dims[0], sequence, vocab}));
  return absl::OkStatus();
}

}  // namespace

Family Gpt() {
  return {"gpt",
          "decoder of text as GPT-2 and GPT-3",
          "softmax-cross-entropy",
          {{"batch", 8},
           {"heads", 12},
           {"layers", 12},
           {"sequence", 1024},
           {"vocab", 50257},
           {"width", 768}},
          Build};
}

}  // namespace yuba::zoo
