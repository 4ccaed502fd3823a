// ResNet-1001 (He et al. 2016, "Identity mappings in deep residual networks"): bottleneck blocks
// with norm and ReLU in front of each convolution, for images of 32 x 32.
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/convolutions.h"
#include "tools/zoo/family.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

constexpr int64_t kStages = 3, kExpansion = 4;

Value Active(GraphBuilder& builder, const std::string& name, const Value& x) {
  return Unary(builder, "Relu", BatchNorm(builder, name, x));
}

Value Bottleneck(GraphBuilder& builder, const Value& x, int64_t width, int64_t stride) {
  const Value active = Active(builder, "bn1", x);
  Value y = Convolution(builder, "conv1", active, width, {1, 1});
  y = Convolution(builder, "conv2", Active(builder, "bn2", y), width, {3, stride});
  y = Convolution(builder, "conv3", Active(builder, "bn3", y), kExpansion * width, {1, 1});
  if (x.dims == y.dims) return Binary(builder, "Add", x, y);
  const Value shortcut = Convolution(builder, "shortcut", active, y.dims[1], {1, stride});
  return Binary(builder, "Add", shortcut, y);
}

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  const int64_t layers = sizes.at("layers"), side = sizes.at("image");
  if (layers < 11 || (layers - 2) % (3 * kStages) != 0) {
    return UserError("--layers ", layers, ": such a ResNet has 9 n + 2, as 11, 164 or 1001");
  }
  Value x = builder.Input("image", ElementType::kF32, {sizes.at("batch"), 3, side, side});
  int64_t width = 16 * sizes.at("width");
  x = Convolution(builder, "conv", x, width, {3, 1});
  for (int64_t stage = 0; stage < kStages; ++stage, width *= 2) {
    for (int64_t block = 0; block < (layers - 2) / (3 * kStages); ++block) {
      const Scope scope(builder, absl::StrCat("layer", stage + 1, ".", block));
      x = Bottleneck(builder, x, width, stage > 0 && block == 0 ? 2 : 1);
    }
  }
  const Value last = GlobalMean(builder, Active(builder, "bn", x));
  builder.Output("logits", DefaultLinear(builder, "fc", last, sizes.at("classes")));
  return absl::OkStatus();
}

}  // namespace

Family ResNetOfCifar() {
  return {"resnet-cifar",
          "deep ResNet with norms in front, for small images",
          "softmax-cross-entropy",
          {{"batch", 128}, {"classes", 10}, {"image", 32}, {"layers", 164}, {"width", 1}},
          Build};
}

}  // namespace yuba::zoo
