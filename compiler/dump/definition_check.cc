#include "compiler/dump/definition_check.h"

#include <algorithm>

#include "opsemantics/base/status.h"
#include "opsemantics/definition/index_names.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::compiler {
namespace {

constexpr int64_t kLargestExtent = int64_t{1} << 40;

// Only the place of a random number names indices.
absl::Status CheckRandom(const Definition& definition, const Expr& random) {
  for (const ExprPtr& arg : random.args) {
    if (TypeOf(*arg, definition.operands) != ElementType::kI64) {
      return UserError("a random number is made of three i64");
    }
  }
  const bool place = random.args[2]->kind == Expr::kIndex || random.args[2]->kind == Expr::kLiteral;
  if (!place || NamesIndex(*random.args[0]) || NamesIndex(*random.args[1])) {
    return UserError(
        "a random number is made of a key and a count, which name no index, and of an ",
        "index expression");
  }
  return absl::OkStatus();
}

absl::Status CheckNode(const Definition& definition, const Expr& expr) {
  switch (expr.kind) {
    case Expr::kRead:
      if (expr.operand < 0 || expr.operand >= static_cast<int>(definition.operands.size())) {
        return UserError("it reads operand ", expr.operand, ", which is not there");
      }
      if (expr.position.size() != definition.operands[expr.operand].dims.size()) {
        return UserError("it reads operand ", expr.operand, " at a position of another rank");
      }
      if (expr.args.size() > 1) return UserError("a read with more than one value outside");
      break;
    case Expr::kCall:
      if (const int count = ArgumentCount(expr.function);
          count >= 0 && static_cast<int>(expr.args.size()) != count) {
        return UserError("'", Name(expr.function), "' with ", expr.args.size(), " arguments");
      }
      break;
    default:
      if (!expr.args.empty()) return UserError("a literal or an index with arguments");
  }
  const bool random = expr.kind == Expr::kCall && expr.function == Function::kRandom;
  return random ? CheckRandom(definition, expr) : absl::OkStatus();
}

absl::Status CheckExpr(const Definition& definition, const ExprPtr& root) {
  absl::Status status;
  Walk(root, [&](const Expr& expr) { status.Update(CheckNode(definition, expr)); });
  return status;
}

absl::Status CheckShape(const Definition& definition) {
  bool reduces = false;
  if (!HasDistinctIndices(definition)) return UserError("two of its indices have one name");
  for (const Index& index : definition.indices) {
    if (index.extent < 0 || index.extent > kLargestExtent) {
      return UserError("index ", index.name, " has extent ", index.extent);
    }
    reduces = reduces || index.reduction;
  }
  if (definition.reducer == Reducer::kNone && reduces) {
    return UserError("a reduction index without a reducer");
  }
  if (definition.left.size() != definition.result.dims.size()) {
    return UserError("its left side has another rank than its result");
  }
  for (const Affine& left : definition.left) {
    if (left.BareIndex() < 0 && !left.IsConstant()) {
      return UserError("its left side is neither an index nor a number");
    }
    if (left.BareIndex() >= 0 && definition.indices[left.BareIndex()].reduction) {
      return UserError("its left side has a reduction index");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDefinition(const Definition& definition) {
  YUBA_RETURN_IF_ERROR(CheckShape(definition));
  YUBA_RETURN_IF_ERROR(CheckExpr(definition, definition.body));
  for (const DataCondition& condition : definition.data_where) {
    YUBA_RETURN_IF_ERROR(CheckExpr(definition, condition.value));
  }
  const std::string opaque = WhyOpaqueIllegal(definition);
  if (!opaque.empty()) return UserError(opaque);
  const Boxes boxes = AnalyzeBoxes(definition, WholeRanges(definition));
  for (size_t o = 0; o < boxes.reads.size(); ++o) {
    if (Contains(WholeBox(definition.operands[o].dims), boxes.reads[o])) continue;
    return UserError("it reads ", ToString(boxes.reads[o]), " of operand ", o, ", which is ",
                     ToString(WholeBox(definition.operands[o].dims)));
  }
  if (!Contains(WholeBox(definition.result.dims), boxes.writes)) {
    return UserError("it writes ", ToString(boxes.writes), " of a result that is ",
                     ToString(WholeBox(definition.result.dims)));
  }
  return absl::OkStatus();
}

}  // namespace yuba::compiler
