#include "compiler/train/precision.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/names.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

bool IsWideProduct(const Definition& definition) {
  bool wide = IsSumOfProducts(definition) && definition.result.type == ElementType::kF32;
  for (const TensorType& operand : definition.operands) wide &= operand.type == ElementType::kF32;
  return wide;
}

Definition CastTo(ElementType type, const TensorType& of) {
  Definition cast = IdentityOf(of, "cast");
  cast.result.type = type;
  cast.body = CallExpr(Function::kCast, {cast.body}, type);
  return cast;
}

ExprPtr Retyped(const ExprPtr& expr, ElementType type) {
  Expr retyped = *expr;
  retyped.type = type;
  for (ExprPtr& arg : retyped.args) arg = Retyped(arg, type);
  return std::make_shared<const Expr>(std::move(retyped));
}

class Narrower {
 public:
  Narrower(ElementType narrow, Graph& graph) : narrow_(narrow), graph_(graph), names_(graph) {}

  void Rewrite() {
    std::vector<Node> given = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : given) {
      if (IsWideProduct(*node.definition)) {
        RewriteProduct(std::move(node));
      } else {
        graph_.nodes.push_back(std::move(node));
      }
    }
    Link(graph_);
    CheckGraph(graph_);
  }

 private:
  void RewriteProduct(Node node) {
    const Node origin = node;
    Definition definition = *node.definition;
    for (TensorId& operand : node.operands) operand = Narrowed(operand, origin);
    for (TensorType& type : definition.operands) type.type = narrow_;
    definition.result.type = narrow_;
    definition.body = Retyped(definition.body, narrow_);
    node.definition = std::make_shared<const Definition>(std::move(definition));
    node.result = AddNarrow(origin.result, origin.entry);
    node.name = graph_.tensors[node.result].name;
    narrowed_[{origin.result, origin.entry}] = node.result;  // for products that read it
    graph_.nodes.push_back(std::move(node));
    AddCast(origin, ElementType::kF32, graph_.nodes.back().result, origin.result);
  }

  // The tensor cast to the narrow type, once in each entry.
  TensorId Narrowed(TensorId wide, const Node& reader) {
    const auto [known, added] = narrowed_.emplace(std::make_pair(wide, reader.entry), -1);
    if (added) {
      known->second = AddNarrow(wide, reader.entry);
      AddCast(reader, narrow_, wide, known->second);
    }
    return known->second;
  }

  TensorId AddNarrow(TensorId wide, int entry) {
    Tensor tensor;
    tensor.name = absl::StrCat(graph_.tensors[wide].name, ".", Name(narrow_));
    // What a node computes has the name of its entry already.
    if (graph_.tensors[wide].producer < 0)
      tensor.name = NameInEntry(graph_.entries, entry, tensor.name);
    tensor.name = names_.Fresh(tensor.name);
    tensor.type = {narrow_, graph_.tensors[wide].type.dims};
    tensor.dims = graph_.tensors[wide].dims;
    tensor.dim_names = graph_.tensors[wide].dim_names;
    graph_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }

  void AddCast(const Node& of, ElementType to, TensorId operand, TensorId result) {
    Node cast;
    cast.name = graph_.tensors[result].name;
    cast.op = "cast";
    cast.from = of.from;
    cast.instance = of.instance;
    cast.entry = of.entry;
    cast.definition = std::make_shared<const Definition>(CastTo(to, graph_.tensors[operand].type));
    cast.operands = {operand};
    cast.result = result;
    graph_.nodes.push_back(std::move(cast));
  }

  ElementType narrow_;
  Graph& graph_;
  GraphNames names_;
  std::map<std::pair<TensorId, int>, TensorId> narrowed_;  // by tensor and entry
};

}  // namespace

void ComputeProductsIn(ElementType narrow, Model& model) {
  Narrower(narrow, model.graph).Rewrite();
}

}  // namespace yuba::compiler
