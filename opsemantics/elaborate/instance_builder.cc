#include "opsemantics/elaborate/instance_builder.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/index_names.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/shared_terms.h"

namespace yuba {
namespace {

// Rewrites slots to operand numbers and variables to positions among the definition's indices.
class Renumbering {
 public:
  Renumbering(const std::vector<Slot>& slots, SlotDefinition& result)
      : slots_(slots), result_(result) {}

  void AddIndex(int variable) {
    const int position = static_cast<int>(positions_.size());
    YUBA_CHECK(positions_.emplace(variable, position).second) << "index twice";
  }

  Affine operator()(const Affine& affine) const {
    Affine result = ConstantAffine(affine.constant);
    for (const auto& [variable, coefficient] : affine.terms) {
      const auto found = positions_.find(variable);
      YUBA_CHECK(found != positions_.end()) << "an index of another definition";
      result = result + IndexAffine(found->second) * coefficient;
    }
    return result;
  }

  ExprPtr operator()(const ExprPtr& expr) {
    return renumbered_.Of(expr, [&]() -> ExprPtr {
      auto result = std::make_shared<Expr>(*expr);
      result->affine = (*this)(expr->affine);
      for (Affine& affine : result->position) affine = (*this)(affine);
      if (expr->kind == Expr::kRead) result->operand = Operand(expr->operand);
      for (ExprPtr& arg : result->args) arg = (*this)(arg);
      return result;
    });
  }

 private:
  int Operand(int slot) {
    std::vector<int>& operands = result_.operands;
    const auto found = std::find(operands.begin(), operands.end(), slot);
    if (found != operands.end()) return static_cast<int>(found - operands.begin());
    operands.push_back(slot);
    TensorType type;
    type.type = slots_[slot].type;
    for (const std::vector<int64_t>& factors : slots_[slot].dims) {
      type.dims.insert(type.dims.end(), factors.begin(), factors.end());
    }
    result_.definition.operands.push_back(std::move(type));
    return static_cast<int>(operands.size()) - 1;
  }

  const std::vector<Slot>& slots_;
  SlotDefinition& result_;
  std::map<int, int> positions_;
  PerTerm<ExprPtr> renumbered_;
};

void AddVariables(const Affine& affine, std::set<int>& variables) {
  for (const auto& term : affine.terms) variables.insert(term.first);
}

void AddVariables(const ExprPtr& expr, std::set<int>& variables) {
  Walk(expr, [&](const Expr& part) {
    AddVariables(part.affine, variables);
    for (const Affine& affine : part.position) AddVariables(affine, variables);
  });
}

// Whether results of narrow floats are f32: of sums and products.
bool Widens(Reducer reducer) { return reducer == Reducer::kSum || reducer == Reducer::kProd; }

bool IsLogic(Reducer reducer) { return reducer == Reducer::kAny || reducer == Reducer::kAll; }

}  // namespace

std::vector<int> VariablesOf(const Reduction& reduction) {
  std::set<int> variables;
  if (reduction.body.kind == Term::kAffine) AddVariables(reduction.body.affine, variables);
  if (reduction.body.kind == Term::kExpr) AddVariables(reduction.body.expr, variables);
  for (const Constraint& constraint : reduction.where)
    AddVariables(constraint.expression, variables);
  for (const DataCondition& condition : reduction.data_where) {
    AddVariables(condition.index, variables);
    AddVariables(condition.value, variables);
  }
  return {variables.begin(), variables.end()};
}

int InstanceBuilder::AddSlot(Slot slot) {
  instance_.slots.push_back(std::move(slot));
  return static_cast<int>(instance_.slots.size()) - 1;
}

int InstanceBuilder::AddVariable(Variable variable) {
  variables_.push_back(std::move(variable));
  return static_cast<int>(variables_.size()) - 1;
}

std::vector<Interval> InstanceBuilder::Ranges() const {
  std::vector<Interval> ranges;
  for (const Variable& variable : variables_) ranges.push_back({0, variable.extent});
  return ranges;
}

absl::StatusOr<ElementType> InstanceBuilder::NaturalType(const Reduction& reduction,
                                                         ElementType fallback) {
  if (IsArgReducer(reduction.reducer)) return ElementType::kI64;
  if (IsLogic(reduction.reducer)) return ElementType::kBool;
  const Term& body = reduction.body;
  if (body.kind == Term::kType) return UserError("a type is no value");
  ElementType type = fallback;
  if (body.IsTyped()) {
    type = body.type;
  } else if (body.IsIntegral()) {
    type = ElementType::kI64;
  } else if (!IsFloat(fallback)) {
    type = ElementType::kF32;
  }
  if (Widens(reduction.reducer) && type == ElementType::kBool) {
    return UserError("bools cannot be added; write if c then 1 else 0, or use any or all");
  }
  return Widens(reduction.reducer) ? AccumulatorType(type) : type;
}

absl::Status InstanceBuilder::Define(int slot, const std::vector<int>& left,
                                     const Reduction& reduction, bool nograd) {
  const ElementType type = instance_.slots[slot].type;
  YUBA_RETURN_IF_ERROR(NaturalType(reduction, type).status());
  if (IsArgReducer(reduction.reducer)) {
    if (type != ElementType::kI64) {
      return UserError("argmax and argmin give an i64; write the output as ",
                       instance_.slots[slot].name, "[...]: i64");
    }
    YUBA_ASSIGN_OR_RETURN(const absl::optional<ElementType> common, CommonType({reduction.body}));
    YUBA_ASSIGN_OR_RETURN(ExprPtr body,
                          Convert(reduction.body, common.value_or(ElementType::kI64)));
    Append(slot, left, reduction, body, nograd);
    return absl::OkStatus();
  }
  const bool narrow = reduction.body.IsTyped() && IsFloat(type) && reduction.body.type != type &&
                      AccumulatorType(type) == reduction.body.type;
  if (narrow) return DefineNarrow(slot, left, reduction, nograd);
  YUBA_ASSIGN_OR_RETURN(ExprPtr body, Convert(reduction.body, type));
  Append(slot, left, reduction, body, nograd);
  return absl::OkStatus();
}

// The result is narrower than the computed values: f16 from f32. A map casts; the result of a
// reduction is stored wide in a slot of its own, which a map then casts.
absl::Status InstanceBuilder::DefineNarrow(int slot, const std::vector<int>& left,
                                           const Reduction& reduction, bool nograd) {
  const ElementType type = instance_.slots[slot].type;
  if (reduction.reducer == Reducer::kNone) {
    Append(slot, left, reduction, CallExpr(Function::kCast, {reduction.body.expr}, type), nograd);
    return absl::OkStatus();
  }
  Slot wide = instance_.slots[slot];
  wide.name += ".wide";
  wide.role = SlotRole::kInternal;
  wide.type = reduction.body.type;
  wide.state = false;
  const int wide_slot = AddSlot(wide);
  Append(wide_slot, left, reduction, reduction.body.expr, nograd);
  std::vector<Affine> position;
  for (int variable : left) position.push_back(IndexAffine(variable));
  ExprPtr read = ReadExpr(wide_slot, std::move(position), wide.type);
  Append(slot, left, Reduction(), CallExpr(Function::kCast, {std::move(read)}, type), nograd);
  return absl::OkStatus();
}

absl::StatusOr<Term> InstanceBuilder::Hoist(const std::string& owner, const Reduction& reduction,
                                            ElementType fallback, bool nograd) {
  std::vector<int> left;
  for (int variable : VariablesOf(reduction)) {
    const auto& own = reduction.variables;
    if (std::find(own.begin(), own.end(), variable) == own.end()) left.push_back(variable);
  }
  Slot slot;
  int number = 1;
  for (const Slot& other : instance_.slots) {
    if (other.name == absl::StrCat(owner, ".", number)) ++number;
  }
  slot.name = absl::StrCat(owner, ".", number);
  slot.role = SlotRole::kInternal;
  YUBA_ASSIGN_OR_RETURN(slot.type, NaturalType(reduction, fallback));
  int group = -1;
  for (int variable : left) {
    const Variable& index = variables_[variable];
    if (index.group < 0 || index.group != group) slot.dims.emplace_back();
    slot.dims.back().push_back(index.extent);
    group = index.group;
  }
  const ElementType type = slot.type;
  const int result = AddSlot(std::move(slot));
  YUBA_RETURN_IF_ERROR(Define(result, left, reduction, nograd));
  std::vector<Affine> position;
  for (int variable : left) position.push_back(IndexAffine(variable));
  return ExprTerm(ReadExpr(result, std::move(position), type), type);
}

void InstanceBuilder::Append(int slot, const std::vector<int>& left, const Reduction& reduction,
                             const ExprPtr& body, bool nograd) {
  SlotDefinition result;
  Definition& definition = result.definition;
  Renumbering renumber(instance_.slots, result);
  definition.name = instance_.slots[slot].name;
  definition.nograd = nograd;
  definition.reducer = reduction.reducer;
  definition.result.type = instance_.slots[slot].type;
  for (int variable : left) {
    const Variable& index = variables_[variable];
    renumber.AddIndex(variable);
    definition.left.push_back(IndexAffine(AddIndex(definition, index.name, index.extent, false)));
    definition.result.dims.push_back(index.extent);
  }
  for (int variable : reduction.variables) {
    const Variable& index = variables_[variable];
    renumber.AddIndex(variable);
    AddIndex(definition, index.name, index.extent, true);
  }
  definition.body = renumber(body);
  for (const Constraint& constraint : reduction.where) {
    definition.where.push_back({renumber(constraint.expression), constraint.equality});
  }
  for (const DataCondition& condition : reduction.data_where) {
    DataCondition renumbered = condition;
    renumbered.index = renumber(condition.index);
    renumbered.value = renumber(condition.value);
    definition.data_where.push_back(std::move(renumbered));
  }
  ShareTerms(definition);
  result.result = slot;
  instance_.definitions.push_back(std::move(result));
}

}  // namespace yuba
