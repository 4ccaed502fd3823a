// Vision transformers (Dosovitskiy et al. 2021), without dropout.

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/encoder.h"
#include "tools/zoo/family.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

constexpr float kEpsilon = 1e-6f;
constexpr int64_t kColours = 3;

// The image's patches as a sequence.
Value Patches(GraphBuilder& builder, const Value& image, int64_t patch, int64_t width) {
  const Scope scope(builder, "patches");
  const int64_t batch = image.dims[0], side = image.dims[2] / patch;
  const Value weight =
      builder.Parameter("weight", {width, kColours, patch, patch}, Normal(kEncoderDeviation));
  const Value bias = builder.Parameter("bias", {width}, Filled(0));
  const Value grid =
      builder.Apply("Conv", {image, weight, bias}, {batch, width, side, side},
                    {{"kernel_shape", Dims{patch, patch}}, {"strides", Dims{patch, patch}}});
  return Transpose(builder, Reshape(builder, grid, {batch, width, side * side}), {0, 2, 1});
}

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  YUBA_RETURN_IF_ERROR(CheckMultiple(sizes, "width", "heads"));
  YUBA_RETURN_IF_ERROR(CheckMultiple(sizes, "image", "patch"));
  const int64_t width = sizes.at("width"), side = sizes.at("image"), batch = sizes.at("batch");
  const Value image = builder.Input("image", ElementType::kF32, {batch, kColours, side, side});
  const Value patches = Patches(builder, image, sizes.at("patch"), width);
  const Value token = builder.Parameter("class_token", {1, 1, width}, Filled(0));
  const Value tokens =
      builder.Apply("Expand", {token, builder.Integers({batch, 1, 1})}, {batch, 1, width});
  const int64_t sequence = patches.dims[1] + 1;
  Value x = builder.Apply("Concat", {tokens, patches}, {batch, sequence, width}, {{"axis", 1}});
  x = Binary(builder, "Add", x,
             builder.Parameter("positions", {1, sequence, width}, Normal(kEncoderDeviation)));
  for (int64_t layer = 0; layer < sizes.at("layers"); ++layer) {
    const Scope scope(builder, absl::StrCat("layers.", layer));
    const Value looked =
        EncoderAttention(builder, LayerNorm(builder, "norm_1", x, kEpsilon), sizes.at("heads"));
    x = Binary(builder, "Add", x, looked);
    const Value fed = EncoderFeedForward(builder, LayerNorm(builder, "norm_2", x, kEpsilon));
    x = Binary(builder, "Add", x, fed);
  }
  x = LayerNorm(builder, "norm", x, kEpsilon);
  const Value first =
      builder.Apply("Gather", {x, builder.Integer(0)}, {batch, width}, {{"axis", 1}});
  builder.Output("logits", EncoderLinear(builder, "head", first, sizes.at("classes")));
  return absl::OkStatus();
}

}  // namespace

Family Vit() {
  return {"vit",
          "vision transformer",
          "softmax-cross-entropy",
          {{"batch", 128},
           {"classes", 1000},
           {"heads", 12},
           {"image", 224},
           {"layers", 12},
           {"patch", 16},
           {"width", 768}},
          Build};
}

}  // namespace yuba::zoo
