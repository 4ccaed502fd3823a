#include "compiler/train/gradients.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/simplify/constants.h"
#include "compiler/train/rules.h"
#include "compiler/train/sums.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/names.h"
#include "opsemantics/gradient/gradient.h"

namespace yuba::compiler {
namespace {

class Backward {
 public:
  Backward(Model& model, const std::vector<TensorId>& of)
      : model_(model),
        rules_(TakeGradientRules(model)),
        graph_(model.graph),
        names_(model.graph),
        depends_(graph_.tensors.size(), false) {
    for (const TensorId tensor : of) depends_[tensor] = true;
    for (const Node& node : graph_.nodes) {
      for (const TensorId operand : node.operands)
        if (depends_[operand]) depends_[node.result] = true;
      instances_ = std::max(instances_, node.instance + 1);
    }
    shares_.resize(graph_.tensors.size());
  }

  absl::Status From(TensorId loss) {
    const TensorId one = AddFill(loss, 1);
    shares_[loss].push_back(one);
    std::map<NodeId, const UseRule*> rule_of;  // by the last node of its group
    for (const UseRule& rule : rules_) {
      if (!rule.group.empty()) rule_of[rule.group.back()] = &rule;
    }
    for (const std::vector<NodeId>& step : BackwardSteps(graph_, rules_)) {
      const auto rule = rule_of.find(step.back());
      if (rule != rule_of.end()) {
        YUBA_RETURN_IF_ERROR(ApplyRule(*rule->second));
      } else {
        YUBA_RETURN_IF_ERROR(DifferentiateNode(step[0], depends_));
      }
    }
    return absl::OkStatus();
  }

  // The sum of what readers gave; -1 where none did.
  TensorId GradientOfTensor(TensorId tensor) {
    const std::vector<TensorId> shares = shares_[tensor];
    if (shares.empty()) return -1;
    std::string& name = gradient_names_[tensor];
    if (name.empty()) name = names_.Fresh(absl::StrCat("grad(", graph_.tensors[tensor].name, ")"));
    if (shares.size() == 1) {
      Tensor& gradient = graph_.tensors[shares[0]];
      gradient.name = name;
      if (gradient.producer >= 0) graph_.nodes[gradient.producer].name = name;
      return shares[0];
    }
    shares_[tensor] = {AddSum(shares, tensor, name)};
    return shares_[tensor][0];
  }

 private:
  // The rule's nodes for operands whose gradients the description says; those of others are derived
  // from the group.
  absl::Status ApplyRule(const UseRule& rule) {
    std::vector<bool> derived(graph_.tensors.size(), false);  // [tensor]: depends on such others
    for (const UseRule::Pair& operand : rule.operands)
      derived[operand.of] = operand.gradient < 0 && depends_[operand.of];
    for (const NodeId id : rule.group) {
      for (const TensorId operand : graph_.nodes[id].operands)
        if (derived[operand]) derived[graph_.nodes[id].result] = true;
    }
    for (size_t n = rule.group.size(); n-- > 0;)
      YUBA_RETURN_IF_ERROR(DifferentiateNode(rule.group[n], derived));
    const std::map<TensorId, TensorId> gradients = GradientsOfOutputs(rule);
    const NodeId forward = rule.group.back();
    for (Node made : rule.nodes) {
      for (TensorId& operand : made.operands) {
        const auto known = gradients.find(operand);
        if (known != gradients.end()) operand = known->second;
      }
      Definition definition = *made.definition;
      NormalizeOperands(made.operands, definition);
      made.definition = std::make_shared<const Definition>(std::move(definition));
      made.instance = InstanceOf(graph_.nodes[forward].instance);
      AddNode(made, made.op);
    }
    for (const UseRule::Pair& operand : rule.operands) {
      if (operand.gradient >= 0 && depends_[operand.of] && !gradients.empty())
        shares_[operand.of].push_back(operand.gradient);
    }
    return absl::OkStatus();
  }

  // [placeholder]: the gradient of the output, 0 where nothing reads it; empty where that holds for
  // all outputs.
  std::map<TensorId, TensorId> GradientsOfOutputs(const UseRule& rule) {
    std::map<TensorId, TensorId> gradients;
    const bool any =
        std::any_of(rule.outputs.begin(), rule.outputs.end(),
                    [&](const UseRule::Pair& output) { return !shares_[output.of].empty(); });
    for (const UseRule::Pair& output : rule.outputs) {
      if (!any) break;
      const TensorId gradient = GradientOfTensor(output.of);
      gradients[output.gradient] = gradient >= 0 ? gradient : AddFill(output.of, 0);
    }
    return gradients;
  }

  // `depends`: [tensor]: whether a gradient by it is wanted.
  absl::Status DifferentiateNode(NodeId id, const std::vector<bool>& depends) {
    const Node node = graph_.nodes[id];
    if (shares_[node.result].empty() || !depends[node.result]) return absl::OkStatus();
    const absl::Status differentiated = Differentiate(node, depends);
    return differentiated.ok()
               ? differentiated
               : Annotate(differentiated,
                          absl::StrCat("node ", node.from.empty() ? node.name : node.from));
  }

  absl::Status Differentiate(const Node& node, const std::vector<bool>& depends) {
    std::vector<bool> wanted;
    for (const TensorId operand : node.operands) wanted.push_back(depends[operand]);
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
      made.result = AddTensorLike(
          node.result, names_.Fresh(absl::StrCat("place(", graph_.tensors[node.result].name, ")")));
      graph_.tensors[made.result].type.type = ElementType::kI64;
      sources.push_back(made.result);
      AddNode(made, node.op);
    } else {
      sources.push_back(node.result);
    }
    for (const GradientShare& share : gradient.shares) {
      const TensorId operand = node.operands[share.operand];
      made.definition = std::make_shared<const Definition>(share.definition);
      made.operands.clear();
      for (const int source : share.sources) made.operands.push_back(sources[source]);
      made.result = AddTensorLike(
          operand, names_.Fresh(absl::StrCat("grad(", graph_.tensors[operand].name, ")@", node.name,
                                             "/", shares_[operand].size())));
      shares_[operand].push_back(made.result);
      AddNode(made, node.op);
    }
    return absl::OkStatus();
  }

  TensorId AddSum(const std::vector<TensorId>& addends, TensorId like, const std::string& name) {
    Node sum;
    sum.definition = std::make_shared<const Definition>(
        SumOf(graph_.tensors[like].type, static_cast<int>(addends.size())));
    sum.operands = addends;
    sum.result = AddTensorLike(like, name);
    sum.instance = instances_++;
    sum.entry = graph_.nodes[graph_.tensors[addends[0]].producer].entry;
    AddNode(std::move(sum), "sum");
    return graph_.nodes.back().result;
  }

  int InstanceOf(int forward) {
    const auto [known, added] = backward_.emplace(forward, instances_);
    if (added) ++instances_;
    return known->second;
  }

  void AddNode(Node node, const std::string& op) {
    node.op = absl::StrCat(op, kGradientSuffix);
    node.name = graph_.tensors[node.result].name;
    graph_.nodes.push_back(std::move(node));
    graph_.tensors[graph_.nodes.back().result].producer =
        static_cast<NodeId>(graph_.nodes.size()) - 1;
  }

  // `name` is one that nothing else has.
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

  // A tensor all of whose elements are the number: it becomes a literal (ReplaceLiterals).
  TensorId AddFill(TensorId like, double number) {
    const TensorId fill = AddTensorLike(like, names_.Fresh(number == 0 ? "zero" : "one"));
    graph_.tensors[fill].kind = TensorKind::kConstant;
    TensorValue value;
    value.type = {graph_.tensors[fill].type.type, {}};
    value.elements.resize(1);
    value.elements[0].number = number;
    InitialValue initial;
    initial.kind = InitialValue::kFill;
    initial.data = std::make_shared<const std::string>(BytesFromValue(value));
    model_.values[fill] = std::move(initial);
    return fill;
  }

  Model& model_;
  std::vector<UseRule> rules_;
  Graph& graph_;
  GraphNames names_;
  std::map<TensorId, std::string> gradient_names_;
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
