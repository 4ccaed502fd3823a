#include "compiler/train/gradients.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/simplify/constants.h"
#include "compiler/train/sums.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/gradient/gradient.h"

namespace yuba::compiler {
namespace {

class Backward {
 public:
  Backward(Model& model, const std::vector<TensorId>& of)
      : model_(model), graph_(model.graph), depends_(graph_.tensors.size(), false) {
    for (const TensorId tensor : of) depends_[tensor] = true;
    for (const Node& node : graph_.nodes) {
      for (const TensorId operand : node.operands)
        if (depends_[operand]) depends_[node.result] = true;
      instances_ = std::max(instances_, node.instance + 1);
    }
    shares_.resize(graph_.tensors.size());
  }

  absl::Status From(TensorId loss) {
    const TensorId one = AddOne(loss);
    shares_[loss].push_back(one);
    for (auto id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;) {
      const Node node = graph_.nodes[id];
      if (shares_[node.result].empty() || !depends_[node.result]) continue;
      const absl::Status differentiated = Differentiate(node);
      if (!differentiated.ok())
        return Annotate(differentiated,
                        absl::StrCat("node ", node.from.empty() ? node.name : node.from));
    }
    return absl::OkStatus();
  }

  // The sum of what readers gave; -1 where none did.
  TensorId GradientOfTensor(TensorId tensor) {
    const std::vector<TensorId> shares = shares_[tensor];
    if (shares.empty()) return -1;
    const std::string name = absl::StrCat("grad(", graph_.tensors[tensor].name, ")");
    if (shares.size() == 1) {
      Tensor& gradient = graph_.tensors[shares[0]];
      gradient.name = name;
      if (gradient.producer >= 0) graph_.nodes[gradient.producer].name = name;
      return shares[0];
    }
    Node sum;
    sum.definition = std::make_shared<const Definition>(
        SumOf(graph_.tensors[tensor].type, static_cast<int>(shares.size())));
    sum.operands = shares;
    sum.result = AddTensorLike(tensor, name);
    sum.instance = instances_++;
    sum.entry = graph_.nodes[graph_.tensors[shares[0]].producer].entry;
    AddNode(std::move(sum), "sum");
    shares_[tensor] = {graph_.nodes.back().result};
    return shares_[tensor][0];
  }

 private:
  absl::Status Differentiate(const Node& node) {
    std::vector<bool> wanted;
    for (const TensorId operand : node.operands) wanted.push_back(depends_[operand]);
    YUBA_ASSIGN_OR_RETURN(const Gradient gradient, GradientOf(*node.definition, wanted));
    if (gradient.shares.empty()) return absl::OkStatus();
    std::vector<TensorId> sources = node.operands;
    sources.push_back(GradientOfTensor(node.result));
    Node made;
    made.from = node.from;
    made.entry = node.entry;
    made.instance = InstanceOf(node.instance);
    if (gradient.place.has_value()) {
      made.definition = std::make_shared<const Definition>(*gradient.place);
      made.operands = node.operands;
      made.result =
          AddTensorLike(node.result, absl::StrCat("place(", graph_.tensors[node.result].name, ")"));
      graph_.tensors[made.result].type.type = ElementType::kI64;
      sources.push_back(made.result);
      AddNode(made, node.op);
    }
    for (const GradientShare& share : gradient.shares) {
      const TensorId operand = node.operands[share.operand];
      made.definition = std::make_shared<const Definition>(share.definition);
      made.operands.clear();
      for (const int source : share.sources) made.operands.push_back(sources[source]);
      made.result = AddTensorLike(operand, absl::StrCat("grad(", graph_.tensors[operand].name, ")@",
                                                        node.name, "/", shares_[operand].size()));
      shares_[operand].push_back(made.result);
      AddNode(made, node.op);
    }
    return absl::OkStatus();
  }

  int InstanceOf(int forward) {
    const auto [known, added] = backward_.emplace(forward, instances_);
    if (added) ++instances_;
    return known->second;
  }

  void AddNode(Node node, const std::string& op) {
    node.op = absl::StrCat(op, ".grad");
    node.name = graph_.tensors[node.result].name;
    graph_.nodes.push_back(std::move(node));
    graph_.tensors[graph_.nodes.back().result].producer =
        static_cast<NodeId>(graph_.nodes.size()) - 1;
  }

  TensorId AddTensorLike(TensorId like, const std::string& name) {
    Tensor tensor;
    tensor.name = name;
    tensor.type = graph_.tensors[like].type;
    tensor.dims = graph_.tensors[like].dims;
    tensor.dim_names = graph_.tensors[like].dim_names;
    graph_.tensors.push_back(std::move(tensor));
    shares_.emplace_back();
    depends_.push_back(false);
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  // The gradient of the loss by itself. It becomes a literal (ReplaceLiterals).
  TensorId AddOne(TensorId loss) {
    const TensorId one = AddTensorLike(loss, "one");
    graph_.tensors[one].kind = TensorKind::kConstant;
    TensorValue value;
    value.type = graph_.tensors[one].type;
    value.elements.resize(1);
    value.elements[0].number = 1;
    InitialValue initial;
    initial.kind = InitialValue::kData;
    initial.data = std::make_shared<const std::string>(BytesFromValue(value));
    model_.values[one] = std::move(initial);
    return one;
  }

  Model& model_;
  Graph& graph_;
  std::vector<bool> depends_;                  // [tensor]: on one of `of`
  std::vector<std::vector<TensorId>> shares_;  // [tensor]: what readers give to its gradient
  std::map<int, int> backward_;                // an instance -> that of its gradients
  int instances_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<TensorId>> AddGradients(Model& model, TensorId loss,
                                                   const std::vector<TensorId>& of) {
  const TensorType& type = model.graph.tensors[loss].type;
  YUBA_CHECK(IsFloat(type.type) && type.dims.empty() && model.graph.tensors[loss].producer >= 0);
  Backward backward(model, of);
  YUBA_RETURN_IF_ERROR(backward.From(loss));
  std::vector<TensorId> gradients;
  for (const TensorId tensor : of) gradients.push_back(backward.GradientOfTensor(tensor));
  Link(model.graph);
  CheckGraph(model.graph);
  return gradients;
}

}  // namespace yuba::compiler
