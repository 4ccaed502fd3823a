// Llama 2 and 3: a decoder with gated feed-forward layers.
#include "tools/zoo/decoder.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  return BuildDecoder(sizes, builder, [&](const Value& x) {
    const Scope scope(builder, "mlp");
    const int64_t wide = sizes.at("feed-forward");
    const Value gate = Silu(builder, PlainLinear(builder, "gate_proj", x, wide));
    const Value up = PlainLinear(builder, "up_proj", x, wide);
    return PlainLinear(builder, "down_proj", Binary(builder, "Mul", gate, up), x.dims[2]);
  });
}

}  // namespace

Family Llama() {
  return {"llama",
          "decoder of text as Llama 2 and 3",
          "softmax-cross-entropy",
          {{"batch", 8},
           {"feed-forward", 14336},
           {"heads", 32},
           {"kv-heads", 8},
           {"layers", 32},
           {"sequence", 4096},
           {"theta", 500000},
           {"vocab", 128256},
           {"width", 4096}},
          Build};
}

}  // namespace yuba::zoo
