// Mixtral (Jiang et al. 2024): a decoder whose feed-forward layers are mixtures of experts. A gate
// chooses experts for each token. An expert has places for a number of tokens of each sequence that
// is known before (Lepikhin et al. 2020, GShard); tokens that find none pass the layer by.

#include "opsemantics/base/status.h"
#include "tools/zoo/decoder.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

// Sizes of a layer's tensors, in whose equations their letters stand: b batch, s sequence, k chosen
// experts of a token, e experts, c places of an expert, d width, f width inside an expert.
struct Layer {
  int64_t batch, sequence, chosen, experts, places, width, inner;
};

Value Einsum(GraphBuilder& builder, const std::string& equation, const Value& a, const Value& b,
             const Dims& dims) {
  return builder.Apply("Einsum", {a, b}, dims, {{"equation", equation}});
}

// 1 at the position that the integer says along a new last dimension of this length, else 0; all 0
// where the integer is beyond.
Value OneHot(GraphBuilder& builder, const Value& positions, int64_t length) {
  Dims dims = positions.dims;
  dims.push_back(length);
  return builder.Apply("OneHot", {positions, builder.Integer(length), builder.Numbers({0, 1})},
                       dims, {{"axis", -1}});
}

// What the gate decides.
struct Routes {
  Value dispatch;  // [b, s, e, c]: 1 where the token has that place of the expert
  Value combine;   // the same, times the expert's share in the token's result
};

// [b, s, k, c]: the places that tokens have in the experts that `chosen`, [b, s, k, e], gives them.
// Earlier tokens come first.
Value Places(GraphBuilder& builder, const Layer& layer, const Value& chosen) {
  const Dims in_a_row = {layer.batch, layer.sequence * layer.chosen, layer.experts};
  const Value row = Reshape(builder, chosen, in_a_row);
  const Value before =
      builder.Apply("CumSum", {row, builder.Integer(1)}, in_a_row, {{"exclusive", 1}});
  const Value taken =
      builder.Apply("ReduceSum", {Binary(builder, "Mul", before, row), builder.Integers({-1})},
                    {layer.batch, layer.sequence * layer.chosen}, {{"keepdims", 0}});
  const Value place =
      builder.Apply("Cast", {taken}, taken.dims, {{"to", int64_t{::onnx::TensorProto::INT64}}});
  return Reshape(builder, OneHot(builder, place, layer.places),
                 {layer.batch, layer.sequence, layer.chosen, layer.places});
}

Routes Route(GraphBuilder& builder, const Layer& layer, const Value& x) {
  const Value logits = PlainLinear(builder, "gate", x, layer.experts);
  const Dims ways = {layer.batch, layer.sequence, layer.chosen};
  const Value best = builder.ApplyMany("TopK", {logits, builder.Integers({layer.chosen})},
                                       {ways, ways}, {{"axis", -1}})[1];
  const Value chosen = OneHot(builder, best, layer.experts);
  const Value theirs = Einsum(builder, "bske,bse->bsk", chosen, logits, ways);
  const Value shares = builder.Apply("Softmax", {theirs}, ways, {{"axis", -1}});
  const Value places = Places(builder, layer, chosen);
  const Dims routes = {layer.batch, layer.sequence, layer.experts, layer.places};
  Dims column = ways;
  column.push_back(1);
  const Value each = builder.Apply("Unsqueeze", {shares, builder.Integers({-1})}, column);
  return {Einsum(builder, "bske,bskc->bsec", chosen, places, routes),
          Einsum(builder, "bske,bskc->bsec", Binary(builder, "Mul", chosen, each), places, routes)};
}

Value Mixture(GraphBuilder& builder, const Layer& layer, const Value& x) {
  const Scope scope(builder, "block_sparse_moe");
  const Routes routes = Route(builder, layer, x);
  const Scope experts(builder, "experts");
  const Draw draw = Normal(kDecoderDeviation);
  const Dims in = {layer.experts, layer.width, layer.inner};
  const Value w1 = builder.Parameter("w1", in, draw), w3 = builder.Parameter("w3", in, draw);
  const Value w2 = builder.Parameter("w2", {layer.experts, layer.inner, layer.width}, draw);
  const Dims narrow = {layer.batch, layer.experts, layer.places, layer.width},
             wide = {layer.batch, layer.experts, layer.places, layer.inner};
  const Value tokens = Einsum(builder, "bsec,bsd->becd", routes.dispatch, x, narrow);
  const Value gate = Silu(builder, Einsum(builder, "becd,edf->becf", tokens, w1, wide));
  const Value up = Einsum(builder, "becd,edf->becf", tokens, w3, wide);
  const Value made =
      Einsum(builder, "becf,efd->becd", Binary(builder, "Mul", gate, up), w2, narrow);
  return Einsum(builder, "bsec,becd->bsd", routes.combine, made, x.dims);
}

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  if (sizes.at("chosen") > sizes.at("experts")) {
    return UserError("--chosen ", sizes.at("chosen"), ": a token is of at most all --experts ",
                     sizes.at("experts"));
  }
  const int64_t even = sizes.at("sequence") * sizes.at("chosen"), all = 100 * sizes.at("experts");
  Layer layer = {sizes.at("batch"),
                 sizes.at("sequence"),
                 sizes.at("chosen"),
                 sizes.at("experts"),
                 (even * sizes.at("capacity") + all - 1) / all,
                 sizes.at("width"),
                 sizes.at("feed-forward")};
  return BuildDecoder(sizes, builder, [&](const Value& x) { return Mixture(builder, layer, x); });
}

}  // namespace

Family Moe() {
  return {"moe",
          "decoder with mixtures of experts as Mixtral",
          "softmax-cross-entropy",
          {{"batch", 8},
           {"capacity", 125},
           {"chosen", 2},
           {"experts", 8},
           {"feed-forward", 14336},
           {"heads", 32},
           {"kv-heads", 8},
           {"layers", 32},
           {"sequence", 4096},
           {"theta", 1000000},
           {"vocab", 32000},
           {"width", 4096}},
          Build};
}

}  // namespace yuba::zoo
