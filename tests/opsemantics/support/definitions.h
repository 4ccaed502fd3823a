// Definitions written by hand, for tests that must not depend on the language:
//   Define({4, 8, 6}, 2, Reducer::kSum, {{4, 6}, {6, 8}},
//          Call(Function::kMul, {Read(0, {i, k}), Read(1, {k, j})}))
// is the matmul y[i, j] = sum(k) x0[i, k] * x1[k, j], where i, j, k are IndexAffine(0), (1), (2).
#ifndef YUBA_TESTS_OPSEMANTICS_SUPPORT_DEFINITIONS_H_
#define YUBA_TESTS_OPSEMANTICS_SUPPORT_DEFINITIONS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

inline ExprPtr Read(int operand, std::vector<Affine> position, ExprPtr otherwise = nullptr) {
  Expr expr;
  expr.kind = Expr::kRead;
  expr.operand = operand;
  expr.position = std::move(position);
  if (otherwise != nullptr) expr.args.push_back(otherwise);
  return std::make_shared<Expr>(expr);
}

inline ExprPtr Call(Function function, std::vector<ExprPtr> args) {
  Expr expr;
  expr.kind = Expr::kCall;
  expr.function = function;
  expr.args = std::move(args);
  return std::make_shared<Expr>(expr);
}

inline ExprPtr Cast(ExprPtr arg, ElementType type) {
  Expr expr;
  expr.kind = Expr::kCall;
  expr.function = Function::kCast;
  expr.type = type;
  expr.args = {std::move(arg)};
  return std::make_shared<Expr>(expr);
}

inline ExprPtr Number(double number, ElementType type = ElementType::kF32) {
  Expr expr;
  expr.number = number;
  expr.type = type;
  return std::make_shared<Expr>(expr);
}

inline ExprPtr Integer(int64_t integer, ElementType type = ElementType::kI64) {
  Expr expr;
  expr.integer = integer;
  expr.type = type;
  return std::make_shared<Expr>(expr);
}

inline ExprPtr IndexValue(Affine affine) {
  Expr expr;
  expr.kind = Expr::kIndex;
  expr.type = ElementType::kI64;
  expr.affine = std::move(affine);
  return std::make_shared<Expr>(expr);
}

// y[outputs..] = reducer(reductions..) body, of f32. `extents` are those of all indices, called i,
// j, k, ...; the first `outputs` of them are output indices. `operands` are the dimensions of each.
inline Definition Define(std::vector<int64_t> extents, int outputs, Reducer reducer,
                         std::vector<std::vector<int64_t>> operands, ExprPtr body) {
  Definition definition;
  definition.name = "y";
  for (size_t i = 0; i < extents.size(); ++i) {
    const bool reduction = static_cast<int>(i) >= outputs;
    definition.indices.push_back(
        {std::string(1, static_cast<char>('i' + i)), extents[i], reduction});
    if (reduction) continue;
    definition.left.push_back(IndexAffine(i));
    definition.result.dims.push_back(extents[i]);
  }
  for (std::vector<int64_t>& dims : operands) {
    definition.operands.push_back({ElementType::kF32, std::move(dims)});
  }
  definition.reducer = reducer;
  definition.body = std::move(body);
  return definition;
}

}  // namespace yuba

#endif  // YUBA_TESTS_OPSEMANTICS_SUPPORT_DEFINITIONS_H_
