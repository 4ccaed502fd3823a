#include "compiler/train/weightless.h"

#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/make_expr.h"

namespace yuba::compiler {

void KeepWhereWeightless(const Graph& graph, TensorId state, TensorId weight,
                         std::vector<TensorId>& operands, Definition& definition) {
  YUBA_CHECK(definition.reducer == Reducer::kNone) << definition.name;
  const auto read = [&](TensorId tensor, std::vector<Affine> position) {
    const TensorType& type = graph.tensors[tensor].type;
    operands.push_back(tensor);
    definition.operands.push_back(type);
    return ReadExpr(static_cast<int>(operands.size()) - 1, std::move(position), type.type);
  };
  const ElementType number = graph.tensors[weight].type.type;
  const ExprPtr none =
      CallExpr(Function::kEq, {read(weight, {}), LiteralExpr(number, 0, 0)}, ElementType::kBool);
  definition.body =
      CallExpr(Function::kSelect, {none, read(state, definition.left), definition.body},
               definition.result.type);
  NormalizeOperands(operands, definition);
}

}  // namespace yuba::compiler
