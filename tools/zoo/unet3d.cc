// The 3-D U-Net (Cicek et al. 2016): classes for the elements of a volume. Convolutions are padded,
// so that the result is as long as the volume.
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tools/zoo/convolutions.h"
#include "tools/zoo/family.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

// Two convolutions to these numbers of channels, each with norm and ReLU.
Value Pair(GraphBuilder& builder, const std::string& name, const Value& x, int64_t first,
           int64_t second) {
  const Scope scope(builder, name);
  const Value y = BatchNorm(builder, "bn1", Convolution(builder, "conv1", x, first, {3, 1}));
  const Value z = Convolution(builder, "conv2", Unary(builder, "Relu", y), second, {3, 1});
  return Unary(builder, "Relu", BatchNorm(builder, "bn2", z));
}

// Joins the channels of both.
Value Joined(GraphBuilder& builder, const Value& a, const Value& b) {
  Dims dims = a.dims;
  dims[1] += b.dims[1];
  return builder.Apply("Concat", {a, b}, dims, {{"axis", 1}});
}

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  const int64_t side = sizes.at("image"), levels = sizes.at("layers");
  if (levels > 10 || side % (int64_t{1} << (levels - 1)) != 0) {
    return UserError("--image ", side, ": each of --layers ", levels, " but the first halves the ",
                     "length, which must be possible without rest");
  }
  Value x = builder.Input("volume", ElementType::kF32,
                          {sizes.at("batch"), sizes.at("channels"), side, side, side});
  std::vector<Value> kept;
  int64_t width = sizes.at("width");
  for (int64_t level = 0; level < levels; ++level, width *= 2) {
    if (level > 0) {
      kept.push_back(x);
      x = MaxPool(builder, x, {2, 2});
    }
    x = Pair(builder, absl::StrCat("down.", level), x, width, 2 * width);
  }
  for (int64_t level = levels - 2; level >= 0; --level) {
    const std::string name = absl::StrCat("up.", level);
    const Value longer = UpConvolution(builder, name, x, x.dims[1]);
    const int64_t channels = kept[level].dims[1];
    x = Pair(builder, name, Joined(builder, kept[level], longer), channels, channels);
  }
  const Value last = Transpose(builder, x, {0, 2, 3, 4, 1});
  builder.Output("logits", DefaultLinear(builder, "head", last, sizes.at("classes")));
  return absl::OkStatus();
}

}  // namespace

Family Unet3d() {
  return {
      "unet3d",
      "3-D U-Net, classes for each element of a volume",
      "softmax-cross-entropy",
      {{"batch", 2}, {"channels", 3}, {"classes", 3}, {"image", 128}, {"layers", 4}, {"width", 32}},
      Build};
}

}  // namespace yuba::zoo
