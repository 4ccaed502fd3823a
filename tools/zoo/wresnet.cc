// The WResNets of the Tofu paper (EuroSys 2019, section 7): ResNet-50, -101 and -152 with
// bottleneck blocks (He et al. 2015) in which every convolution is `width` times as wide. With
// width 1 they are the ResNets themselves, with the stride in the 3 x 3 convolution, as PyTorch has
// them.
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/convolutions.h"
#include "tools/zoo/family.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

constexpr int64_t kExpansion = 4;  // a block's result over the width inside

// Blocks of each of the four stages; empty where no ResNet has so many layers.
Dims BlocksOf(int64_t layers) {
  switch (layers) {
    case 26: return {2, 2, 2, 2};
    case 50: return {3, 4, 6, 3};
    case 101: return {3, 4, 23, 3};
    case 152: return {3, 8, 36, 3};
    default: return {};
  }
}

Value NormalConvolution(GraphBuilder& builder, int place, const Value& x, int64_t channels,
                        const Window& window) {
  const std::string number = absl::StrCat(place);
  return BatchNorm(builder, "bn" + number,
                   Convolution(builder, "conv" + number, x, channels, window));
}

Value Bottleneck(GraphBuilder& builder, const Value& x, int64_t width, int64_t stride) {
  Value y = Unary(builder, "Relu", NormalConvolution(builder, 1, x, width, {1, 1}));
  y = Unary(builder, "Relu", NormalConvolution(builder, 2, y, width, {3, stride}));
  y = NormalConvolution(builder, 3, y, kExpansion * width, {1, 1});
  Value shortcut = x;
  if (x.dims != y.dims) {
    const Scope scope(builder, "downsample");
    shortcut = BatchNorm(builder, "1", Convolution(builder, "0", x, y.dims[1], {1, stride}));
  }
  return Unary(builder, "Relu", Binary(builder, "Add", y, shortcut));
}

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  const Dims blocks = BlocksOf(sizes.at("layers"));
  if (blocks.empty()) {
    return UserError("--layers ", sizes.at("layers"), ": a WResNet has 26, 50, 101 or 152");
  }
  const int64_t side = sizes.at("image");
  Value x = builder.Input("image", ElementType::kF32, {sizes.at("batch"), 3, side, side});
  int64_t width = 64 * sizes.at("width");
  x = Unary(builder, "Relu", NormalConvolution(builder, 1, x, width, {7, 2}));
  x = MaxPool(builder, x, {3, 2});
  for (size_t stage = 0; stage < blocks.size(); ++stage, width *= 2) {
    for (int64_t block = 0; block < blocks[stage]; ++block) {
      const Scope scope(builder, absl::StrCat("layer", stage + 1, ".", block));
      x = Bottleneck(builder, x, width, stage > 0 && block == 0 ? 2 : 1);
    }
  }
  builder.Output("logits",
                 DefaultLinear(builder, "fc", GlobalMean(builder, x), sizes.at("classes")));
  return absl::OkStatus();
}

}  // namespace

Family WideResNet() {
  return {"wresnet",
          "the paper's ResNet, width times as wide",
          "softmax-cross-entropy",
          {{"batch", 32}, {"classes", 1000}, {"image", 224}, {"layers", 50}, {"width", 1}},
          Build};
}

}  // namespace yuba::zoo
