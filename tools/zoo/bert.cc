// BERT (Devlin et al. 2019) with its head for masked words, without dropout. Sequences are full:
// there is no mask of padding.
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/encoder.h"
#include "tools/zoo/family.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

constexpr float kEpsilon = 1e-12f;
constexpr int64_t kPositions = 512, kKinds = 2;  // rows of its tables of positions and segments

Value Head(GraphBuilder& builder, const Value& x, const Value& words) {
  const Scope scope(builder, "head");
  const Value dense = Gelu(builder, EncoderLinear(builder, "dense", x, x.dims[2]));
  const Value normal = LayerNorm(builder, "norm", dense, kEpsilon);
  const int64_t vocab = words.dims[0];
  const Value product = builder.Apply("MatMul", {normal, Transpose(builder, words, {1, 0})},
                                      {x.dims[0], x.dims[1], vocab});
  return Binary(builder, "Add", product, builder.Parameter("bias", {vocab}, Filled(0)));
}

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  YUBA_RETURN_IF_ERROR(CheckMultiple(sizes, "width", "heads"));
  const int64_t width = sizes.at("width"), sequence = sizes.at("sequence");
  if (sequence > kPositions) {
    return UserError("--sequence ", sequence, ": this model knows ", kPositions, " positions");
  }
  const Draw draw = Normal(kEncoderDeviation);
  const Value ids = builder.Input("ids", ElementType::kI64, {sizes.at("batch"), sequence});
  const Value kinds = builder.Input("segments", ElementType::kI64, ids.dims);
  const Value words = builder.Parameter("words.weight", {sizes.at("vocab"), width}, draw);
  const Value positions = builder.Parameter("positions.weight", {kPositions, width}, draw);
  const Dims stream = {ids.dims[0], sequence, width};
  Value x = builder.Apply("Gather", {words, ids}, stream, {{"axis", 0}});
  x = Binary(builder, "Add", x, Embedding(builder, "segments", kinds, kKinds, width, draw));
  const Value used = sequence == kPositions
                         ? positions
                         : Split(builder, positions, 0, {sequence, kPositions - sequence})[0];
  x = LayerNorm(builder, "norm", Binary(builder, "Add", x, used), kEpsilon);
  for (int64_t layer = 0; layer < sizes.at("layers"); ++layer) {
    const Scope scope(builder, absl::StrCat("layer.", layer));
    const Value looked = EncoderAttention(builder, x, sizes.at("heads"));
    x = LayerNorm(builder, "norm_1", Binary(builder, "Add", x, looked), kEpsilon);
    const Value fed = EncoderFeedForward(builder, x);
    x = LayerNorm(builder, "norm_2", Binary(builder, "Add", x, fed), kEpsilon);
  }
  builder.Output("logits", Head(builder, x, words));
  return absl::OkStatus();
}

}  // namespace

Family Bert() {
  return {"bert",
          "encoder of text as BERT, with the head for masked words",
          "softmax-cross-entropy",
          {{"batch", 32},
           {"heads", 12},
           {"layers", 12},
           {"sequence", 512},
           {"vocab", 30522},
           {"width", 768}},
          Build};
}

}  // namespace yuba::zoo
