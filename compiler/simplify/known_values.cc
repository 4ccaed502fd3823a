#include "compiler/simplify/known_values.h"

#include "compiler/simplify/constants.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/regions/boxes.h"

namespace yuba::compiler {

// Whether all that it reads are constants of few integers; fetches these.
bool KnownValues::ReadsKnownConstants(const ExprPtr& expr) {
  bool known = true;
  Walk(expr, [&](const Expr& part) {
    known = known && (part.kind != Expr::kRead || Fetch(part.operand));
  });
  return known;
}

bool KnownValues::Fetch(int operand) {
  if (values_[operand].has_value()) return true;
  const TensorId id = SourceOf(model_.graph, node_.operands[operand]);
  const Tensor& tensor = model_.graph.tensors[id];
  const auto stored = model_.values.find(id);
  if (computed_ && tensor.kind == TensorKind::kActivation && tensor.producer >= 0) {
    values_[operand] = Compute(model_.graph.nodes[tensor.producer]);
    return values_[operand].has_value();
  }
  if (tensor.kind != TensorKind::kConstant || IsFloat(tensor.type.type) ||
      ElementCount(tensor.type) > most_ || stored == model_.values.end() ||
      stored->second.kind != InitialValue::kData || stored->second.data == nullptr) {
    return false;
  }
  values_[operand] = ValueFromBytes(tensor.type.type, tensor.type.dims, *stored->second.data);
  return true;
}

// The result of a node of integers; nullopt where it is not elementwise or reads what is not known.
absl::optional<TensorValue> KnownValues::Compute(const Node& node) const {
  const Definition& definition = *node.definition;
  const bool small = ElementCount(definition.result) <= most_ && !IsFloat(definition.result.type);
  if (!small || definition.reducer != Reducer::kNone) return absl::nullopt;
  KnownValues inner(model_, node, most_, true);
  for (size_t o = 0; o < node.operands.size(); ++o) {
    if (!inner.Fetch(static_cast<int>(o))) return absl::nullopt;
  }
  TensorValue result;
  result.type = definition.result;
  result.elements.resize(static_cast<size_t>(ElementCount(result.type)));
  Interpret(definition, WholeRanges(definition), inner.Operands(), Arithmetic::kFloat, result);
  return result;
}

std::vector<const TensorValue*> KnownValues::Operands() const {
  std::vector<const TensorValue*> operands;
  for (const auto& value : values_) operands.push_back(value.has_value() ? &*value : nullptr);
  return operands;
}

// y[i..] = expr, over the indices that it names; these are added to `indices`.
Definition KnownValues::MapOf(const ExprPtr& expr, std::vector<int>& indices) const {
  const Definition& definition = *node_.definition;
  std::vector<bool> named(definition.indices.size(), false);
  const auto name = [&named](const Affine& affine) {
    for (const auto& term : affine.terms) named[term.first] = true;
  };
  Walk(expr, [&](const Expr& part) {
    name(part.affine);
    for (const Affine& affine : part.position) name(affine);
  });
  Definition map;
  map.name = definition.name;
  map.operands = definition.operands;
  map.result.type = ElementType::kI64;
  std::vector<Affine> renamed(named.size());
  std::vector<int> same(definition.operands.size());
  for (size_t k = 0; k < same.size(); ++k) same[k] = static_cast<int>(k);
  for (size_t i = 0; i < named.size(); ++i) {
    if (!named[i]) continue;
    renamed[i] = IndexAffine(static_cast<int>(map.indices.size()));
    map.left.push_back(renamed[i]);
    map.indices.push_back({definition.indices[i].name, definition.indices[i].extent, false});
    map.result.dims.push_back(definition.indices[i].extent);
    indices.push_back(static_cast<int>(i));
  }
  map.body = Substitute(expr, renamed, same);
  return map;
}

absl::optional<ValueTable> KnownValues::Of(const ExprPtr& expr, Arithmetic arithmetic) {
  if (!ReadsKnownConstants(expr)) return absl::nullopt;
  ValueTable table;
  const Definition map = MapOf(expr, table.indices);
  int64_t points = 1;
  for (const Index& index : map.indices) {
    if (index.extent < 1 || index.extent > most_ / points) return absl::nullopt;
    points *= index.extent;
    table.extents.push_back(index.extent);
  }
  TensorValue result;
  result.type = map.result;
  result.elements.resize(static_cast<size_t>(points));
  Interpret(map, WholeRanges(map), Operands(), arithmetic, result);
  for (const Scalar& element : result.elements) table.values.push_back(element.integer);
  return table;
}

}  // namespace yuba::compiler
