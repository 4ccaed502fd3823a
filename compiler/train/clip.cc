#include "compiler/train/clip.h"

#include "absl/strings/str_cat.h"
#include "compiler/train/added_nodes.h"
#include "compiler/train/options.h"
#include "compiler/train/sums.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {

absl::StatusOr<std::vector<TensorId>> ClipGradients(Model& model, double limit,
                                                    const OperatorLibrary& library,
                                                    const std::vector<TensorId>& gradients) {
  YUBA_CHECK(!gradients.empty());
  for (const Tensor& tensor : model.graph.tensors) {
    if (tensor.name != kGradientNorm) continue;
    return UserError("--clip: the model has a tensor '", kGradientNorm, "', which is the name of ",
                     "the norm of all gradients: rename the tensor");
  }
  const auto name_of = [&](TensorId tensor) { return model.graph.tensors[tensor].name; };
  const ElementType type = model.graph.tensors[gradients[0]].type.type;
  for (const TensorId gradient : gradients) {
    const Tensor& tensor = model.graph.tensors[gradient];
    if (tensor.type.type == type && ByteSize(type) >= 4) continue;
    return UserError("--clip: ", tensor.name, " is ", Name(tensor.type.type), "; gradients are ",
                     "clipped where all are f32 or all are f64: squares of others do not fit");
  }
  AddedNodes added(model);
  std::vector<TensorId> squares;
  for (const TensorId gradient : gradients) {
    YUBA_ASSIGN_OR_RETURN(const TensorId one,
                          added.Use(OwnDescription(kSquaredNorm, library), {}, {gradient},
                                    absl::StrCat("squares(", name_of(gradient), ")")));
    squares.push_back(one);
  }
  const TensorId sum =
      added.Add("sum", "the squares of all gradients",
                SumOf(model.graph.tensors[squares[0]].type, static_cast<int>(squares.size())),
                squares, "squares(all gradients)", squares[0]);
  YUBA_ASSIGN_OR_RETURN(const TensorId norm,
                        added.Use(OwnDescription(kRoot, library), {}, {sum}, kGradientNorm));
  model.graph.outputs.push_back(norm);
  const OpDescription& clip = OwnDescription(kClipped, library);
  std::vector<TensorId> clipped;
  for (const TensorId gradient : gradients) {
    YUBA_ASSIGN_OR_RETURN(const TensorId one,
                          added.Use(clip, {{"limit", limit}}, {gradient, norm},
                                    absl::StrCat("clipped(", name_of(gradient), ")")));
    clipped.push_back(one);
  }
  Link(model.graph);
  CheckGraph(model.graph);
  return clipped;
}

}  // namespace yuba::compiler
