// KnowConditions of simplify.h.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/simplify/constants.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/oracle/interpret.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::compiler {
namespace {

// Box analysis computes with sums of such numbers (regions/bounds.h).
constexpr int64_t kLargestValue = int64_t{1} << 40;

class Tables {
 public:
  Tables(const Model& model, const Node& node)
      : model_(model), node_(node), values_(node.operands.size()) {}

  // The values of a condition at all points of the indices that it names; null where they are not
  // all known.
  std::shared_ptr<const ValueTable> Of(const ExprPtr& value) {
    if (!ReadsKnownConstants(value)) return nullptr;
    const Definition map = MapOf(value);
    int64_t points = 1;
    for (const Index& index : map.indices) {
      if (index.extent < 1 || index.extent > kLargestTable / points) return nullptr;
      points *= index.extent;
    }
    // A value that the two arithmetics see differently, as an index out of range, is not known.
    const std::vector<int64_t> floats = Evaluate(map, Arithmetic::kFloat);
    if (floats != Evaluate(map, Arithmetic::kHash)) return nullptr;
    ValueTable table;
    table.indices = indices_;
    for (const Index& index : map.indices) table.extents.push_back(index.extent);
    table.values = floats;
    const bool small = std::all_of(floats.begin(), floats.end(), [](int64_t value_at) {
      return value_at <= kLargestValue && value_at >= -kLargestValue;
    });
    return small ? std::make_shared<const ValueTable>(std::move(table)) : nullptr;
  }

 private:
  // Whether all that it reads are constants of few integers; fetches these.
  bool ReadsKnownConstants(const ExprPtr& value) {
    bool known = true;
    Walk(value, [&](const Expr& expr) {
      known = known && (expr.kind != Expr::kRead || Fetch(expr.operand));
    });
    return known;
  }

  bool Fetch(int operand) {
    if (values_[operand].has_value()) return true;
    const Tensor& tensor = model_.graph.tensors[node_.operands[operand]];
    const auto stored = model_.values.find(node_.operands[operand]);
    if (tensor.kind != TensorKind::kConstant || IsFloat(tensor.type.type) ||
        ElementCount(tensor.type) > kLargestTable || stored == model_.values.end() ||
        stored->second.kind != InitialValue::kData || stored->second.data == nullptr) {
      return false;
    }
    values_[operand] = ValueFromBytes(tensor.type.type, tensor.type.dims, *stored->second.data);
    return true;
  }

  // y[i..] = value, over the indices that it names.
  Definition MapOf(const ExprPtr& value) {
    const Definition& definition = *node_.definition;
    std::vector<bool> named(definition.indices.size(), false);
    const auto name = [&named](const Affine& affine) {
      for (const auto& term : affine.terms) named[term.first] = true;
    };
    Walk(value, [&](const Expr& expr) {
      name(expr.affine);
      for (const Affine& affine : expr.position) name(affine);
    });
    Definition map;
    map.name = definition.name;
    map.operands = definition.operands;
    map.result.type = ElementType::kI64;
    std::vector<Affine> renamed(named.size());
    std::vector<int> same(definition.operands.size());
    for (size_t k = 0; k < same.size(); ++k) same[k] = static_cast<int>(k);
    indices_.clear();
    for (size_t i = 0; i < named.size(); ++i) {
      if (!named[i]) continue;
      renamed[i] = IndexAffine(static_cast<int>(map.indices.size()));
      map.left.push_back(renamed[i]);
      map.indices.push_back({definition.indices[i].name, definition.indices[i].extent, false});
      map.result.dims.push_back(definition.indices[i].extent);
      indices_.push_back(static_cast<int>(i));
    }
    map.body = Substitute(value, renamed, same);
    return map;
  }

  std::vector<int64_t> Evaluate(const Definition& map, Arithmetic arithmetic) const {
    std::vector<const TensorValue*> operands;  // null where the map reads nothing of one
    for (const auto& value : values_) operands.push_back(value.has_value() ? &*value : nullptr);
    TensorValue result;
    result.type = map.result;
    result.elements.resize(static_cast<size_t>(ElementCount(result.type)));
    Interpret(map, WholeRanges(map), operands, arithmetic, result);
    std::vector<int64_t> integers;
    for (const Scalar& element : result.elements) integers.push_back(element.integer);
    return integers;
  }

  const Model& model_;
  const Node& node_;
  std::vector<absl::optional<TensorValue>> values_;  // [operand], where fetched
  std::vector<int> indices_;                         // those of the last MapOf
};

}  // namespace

void KnowConditions(Model& model) {
  for (Node& node : model.graph.nodes) {
    if (node.definition->data_where.empty()) continue;
    Tables tables(model, node);
    Definition definition = *node.definition;
    bool any = false;
    for (DataCondition& condition : definition.data_where) {
      condition.table = tables.Of(condition.value);
      any |= condition.table != nullptr;
    }
    if (any) node.definition = std::make_shared<const Definition>(std::move(definition));
  }
}

}  // namespace yuba::compiler
