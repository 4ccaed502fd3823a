// Linear layers and ReLUs.
#include "absl/strings/str_cat.h"
#include "tools/zoo/family.h"
#include "tools/zoo/layers.h"

namespace yuba::zoo {
namespace {

absl::Status Build(const Sizes& sizes, GraphBuilder& builder) {
  const int64_t width = sizes.at("width");
  Value x = builder.Input("x", ElementType::kF32, {sizes.at("batch"), width});
  for (int64_t layer = 1; layer < sizes.at("layers"); ++layer)
    x = Unary(builder, "Relu", DefaultLinear(builder, absl::StrCat("layers.", layer), x, width));
  builder.Output("logits", DefaultLinear(builder, "head", x, sizes.at("classes")));
  return absl::OkStatus();
}

}  // namespace

Family Mlp() {
  return {"mlp",
          "linear layers and ReLUs",
          "softmax-cross-entropy",
          {{"batch", 128}, {"classes", 10}, {"layers", 4}, {"width", 1024}},
          Build};
}

}  // namespace yuba::zoo
