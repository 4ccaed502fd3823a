#include "compiler/train/sums.h"

#include "opsemantics/base/check.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/definition/make_expr.h"

namespace yuba::compiler {

Definition SumOf(const TensorType& type, int count) {
  YUBA_CHECK(count > 0);
  Definition definition = IdentityOf(type, "sum");
  for (int k = 1; k < count; ++k) {
    definition.operands.push_back(type);
    const ExprPtr term = ReadExpr(k, definition.left, type.type);
    definition.body = CallExpr(Function::kAdd, {definition.body, term}, type.type);
  }
  return definition;
}

}  // namespace yuba::compiler
