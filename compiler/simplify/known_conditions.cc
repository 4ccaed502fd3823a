// KnowConditions and CheckKnownIndices of simplify.h.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "compiler/simplify/known_values.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/conditions.h"

namespace yuba::compiler {
namespace {

// Box analysis computes with sums of such numbers (regions/bounds.h).
constexpr int64_t kLargestValue = int64_t{1} << 40;
// Of constants that are checked: the interpreter takes about 0.1 s for so many.
constexpr int64_t kMostChecked = int64_t{1} << 20;

// Null where the values are not all known.
ValueTablePtr TableOf(KnownValues& known, const ExprPtr& value) {
  absl::optional<ValueTable> floats = known.Of(value, Arithmetic::kFloat);
  if (!floats.has_value()) return nullptr;
  // A value that the two arithmetics see differently, as an index out of range, is not known.
  if (known.Of(value, Arithmetic::kHash)->values != floats->values) return nullptr;
  for (const int64_t at : floats->values) {
    if (at > kLargestValue || at < -kLargestValue) return nullptr;
  }
  return std::make_shared<const ValueTable>(*std::move(floats));
}

// The index of a wrap that is furthest outside of its extent, if all of them are known and one is.
absl::optional<int64_t> IndexOutside(KnownValues& known, const Definition& definition,
                                     const Expr& wrap) {
  const Expr& extent = *wrap.args[1];
  if (extent.kind != Expr::kLiteral) return absl::nullopt;
  int64_t least = 0, greatest = 0;
  if (const absl::optional<Affine> affine = AffineOf(*wrap.args[0])) {
    std::vector<Interval> whole;
    for (const Index& index : definition.indices) whole.push_back({0, index.extent});
    const Interval range = Range(*affine, whole);
    if (range.empty()) return absl::nullopt;
    least = range.begin;
    greatest = range.end - 1;
  } else if (const auto values = known.Of(wrap.args[0], Arithmetic::kFloat)) {
    if (values->values.empty()) return absl::nullopt;
    const auto [min, max] = std::minmax_element(values->values.begin(), values->values.end());
    least = *min;
    greatest = *max;
  }
  if (greatest >= extent.integer) return greatest;
  if (least < -extent.integer) return least;
  return absl::nullopt;
}

// A label that is neither a class nor the ignored one, if all of them are known and one is such.
absl::optional<int64_t> LabelOutside(KnownValues& known, const Expr& label) {
  const Expr &classes = *label.args[1], &ignored = *label.args[2];
  if (classes.kind != Expr::kLiteral || ignored.kind != Expr::kLiteral) return absl::nullopt;
  const auto labels = known.Of(label.args[0], Arithmetic::kFloat);
  if (!labels.has_value()) return absl::nullopt;
  for (const int64_t value : labels->values) {
    if ((value < 0 || value >= classes.integer) && value != ignored.integer) return value;
  }
  return absl::nullopt;
}

// What is wrong with the index, or the label, of a call.
std::string WhyOutside(const Expr& call, int64_t outside) {
  const int64_t extent = call.args[1]->integer;
  if (call.function == Function::kLabel) {
    return absl::StrCat(outside, ", which is no label of ", extent, " classes (0 to ", extent - 1,
                        ")");
  }
  return absl::StrCat(outside, ", which is no index into ", extent, " elements (", -extent, " to ",
                      extent - 1, "). A dimension given by --dim may be larger than a table of ",
                      "the model");
}

absl::Status CheckIndices(const Model& model, const Node& node) {
  const Definition& definition = *node.definition;
  if (!definition.where.empty()) return absl::OkStatus();  // some points may have no term
  KnownValues known(model, node, kMostChecked, true);
  for (const DataCondition& condition : definition.data_where) {
    const Expr& call = *condition.value;
    const bool label = call.kind == Expr::kCall && call.function == Function::kLabel;
    if (!label && (call.kind != Expr::kCall || call.function != Function::kWrap)) continue;
    const absl::optional<int64_t> outside =
        label ? LabelOutside(known, call) : IndexOutside(known, definition, call);
    if (!outside.has_value()) continue;
    const Expr* read = call.args[0].get();
    while (read->kind == Expr::kCall && read->function == Function::kCast)
      read = read->args[0].get();
    const std::string ids = read->kind == Expr::kRead
                                ? model.graph.tensors[node.operands[read->operand]].name
                                : "what it looks up";
    return UserError("node ", node.name, " (", node.op, node.from.empty() ? "" : ", from ",
                     node.from, "): ", ids, " holds ", WhyOutside(call, *outside));
  }
  return absl::OkStatus();
}

}  // namespace

void KnowConditions(Model& model) {
  for (Node& node : model.graph.nodes) {
    if (node.definition->data_where.empty()) continue;
    KnownValues known(model, node, kLargestTable);
    Definition definition = *node.definition;
    bool any = false;
    for (DataCondition& condition : definition.data_where) {
      condition.table = TableOf(known, condition.value);
      any |= condition.table != nullptr;
    }
    if (any) node.definition = std::make_shared<const Definition>(std::move(definition));
  }
}

absl::Status CheckKnownIndices(const Model& model) {
  for (const Node& node : model.graph.nodes) YUBA_RETURN_IF_ERROR(CheckIndices(model, node));
  return absl::OkStatus();
}

}  // namespace yuba::compiler
