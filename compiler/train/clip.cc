#include "compiler/train/clip.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/train/sums.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {
namespace {

class Clipper {
 public:
  explicit Clipper(Model& model) : graph_(model.graph) {
    for (const Node& node : graph_.nodes) instance_ = std::max(instance_, node.instance + 1);
    entry_ = static_cast<int>(graph_.entries.size()) - 1;
  }

  // The one result of a description that one definition computes.
  absl::StatusOr<TensorId> AddInstance(const OpDescription& op, const Attributes& attributes,
                                       const std::vector<TensorId>& operands,
                                       const std::string& name) {
    std::vector<absl::optional<Shape>> shapes;
    for (const TensorId operand : operands) {
      const TensorType& type = graph_.tensors[operand].type;
      shapes.push_back(Shape{type.type, type.dims});
    }
    const auto of = absl::StrCat(op.name, " of ", graph_.tensors[operands[0]].name);
    absl::StatusOr<Instance> instance = Elaborate(op, shapes, attributes);
    if (!instance.ok()) return Annotate(instance.status(), of);
    if (instance->definitions.size() != 1)
      return UserError("--clip: the description ", op.name, " must be one definition");
    const SlotDefinition& step = instance->definitions[0];
    std::vector<TensorId> read;
    for (const int slot : step.operands) read.push_back(operands[instance->slots[slot].position]);
    return Add(op.name, of, step.definition, std::move(read), name);
  }

  TensorId Add(const std::string& op, const std::string& from, Definition definition,
               std::vector<TensorId> operands, const std::string& name) {
    Tensor tensor;
    tensor.name = name;
    tensor.type = definition.result;
    const Tensor& like = graph_.tensors[operands[0]];
    if (like.type.dims == tensor.type.dims) {
      tensor.dims = like.dims;
      tensor.dim_names = like.dim_names;
    }
    const auto result = static_cast<TensorId>(graph_.tensors.size());
    tensor.producer = static_cast<NodeId>(graph_.nodes.size());
    Node node;
    node.name = name;
    node.op = op;
    node.from = from;
    node.instance = instance_++;
    node.entry = entry_;
    node.definition = std::make_shared<const Definition>(std::move(definition));
    node.operands = std::move(operands);
    node.result = result;
    graph_.tensors.push_back(std::move(tensor));
    graph_.nodes.push_back(std::move(node));
    return result;
  }

 private:
  Graph& graph_;
  int instance_ = 0;
  int entry_ = 0;  // the last one, which trains
};

}  // namespace

absl::StatusOr<std::vector<TensorId>> ClipGradients(Model& model, const Clipping& clipping,
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
  Clipper clipper(model);
  std::vector<TensorId> squares;
  for (const TensorId gradient : gradients) {
    YUBA_ASSIGN_OR_RETURN(const TensorId one,
                          clipper.AddInstance(clipping.squares, {}, {gradient},
                                              absl::StrCat("squares(", name_of(gradient), ")")));
    squares.push_back(one);
  }
  const TensorId sum =
      clipper.Add("sum", "the squares of all gradients",
                  SumOf(model.graph.tensors[squares[0]].type, static_cast<int>(squares.size())),
                  squares, "squares(all gradients)");
  YUBA_ASSIGN_OR_RETURN(const TensorId norm,
                        clipper.AddInstance(clipping.root, {}, {sum}, kGradientNorm));
  model.graph.outputs.push_back(norm);
  std::vector<TensorId> clipped;
  for (const TensorId gradient : gradients) {
    YUBA_ASSIGN_OR_RETURN(
        const TensorId one,
        clipper.AddInstance(clipping.clipped, {{"limit", clipping.limit}}, {gradient, norm},
                            absl::StrCat("clipped(", name_of(gradient), ")")));
    clipped.push_back(one);
  }
  Link(model.graph);
  CheckGraph(model.graph);
  return clipped;
}

}  // namespace yuba::compiler
