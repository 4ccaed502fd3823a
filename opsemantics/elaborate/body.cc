#include "opsemantics/elaborate/body.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/definition/functions.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/elaborate/one_term.h"
#include "opsemantics/regions/bounds.h"

namespace yuba {

void BodyEvaluator::AddIndex(const std::string& name, bool pack,
                             const std::vector<int64_t>& extents, const std::vector<int>& groups,
                             std::vector<int>& variables) {
  Value value;
  value.pack = pack;
  for (size_t i = 0; i < extents.size(); ++i) {
    const int variable = builder_.AddVariable(
        {pack ? absl::StrCat(name, i) : name, extents[i], groups.empty() ? -1 : groups[i]});
    variables.push_back(variable);
    value.elements.push_back(AffineTerm(IndexAffine(variable)));
  }
  binding_.names[name] = std::move(value);
  std::vector<int>& added = in_scope_[name];
  added.assign(variables.end() - static_cast<std::ptrdiff_t>(extents.size()), variables.end());
}

absl::StatusOr<Reduction> BodyEvaluator::Body(const Syntax& syntax) {
  if (syntax.kind == Syntax::kReduce) return ReduceOf(syntax);
  Reduction reduction;
  YUBA_ASSIGN_OR_RETURN(reduction.body, Evaluate(syntax, Division::kExact));
  return reduction;
}

// --- Reductions.

absl::StatusOr<Term> BodyEvaluator::Reduce(const Syntax& reduce) {
  YUBA_ASSIGN_OR_RETURN(Reduction reduction, ReduceOf(reduce));
  absl::StatusOr<Term> result = builder_.Hoist(name_, reduction, Fallback(), nograd_);
  if (!result.ok()) return Error(reduce.range, result.status().message());
  return result;
}

absl::StatusOr<Reduction> BodyEvaluator::ReduceOf(const Syntax& reduce) {
  Reduction reduction;
  const absl::optional<Reducer> reducer = FindReducer(reduce.name);
  YUBA_CHECK(reducer.has_value()) << "the parser lets reducers alone through: " << reduce.name;
  reduction.reducer = *reducer;
  // A reduction is computed for all values of the indices around it, whatever `if` encloses it.
  const Condition outer = std::exchange(when_, Condition{{}});
  YUBA_RETURN_IF_ERROR(AddRanges(reduce, reduction));
  for (const SyntaxPtr& condition : reduce.where) {
    YUBA_RETURN_IF_ERROR(AddConditions(*condition, reduction));
  }
  if (reduction.reducer == Reducer::kPick && MayTakeSeveral(reduction, builder_)) {
    return Error(reduce.range,
                 "pick takes the one term whose conditions hold; these may hold for several values "
                 "of what is reduced. Add a condition that fixes each index, as r == at[i], or use "
                 "sum, max or min");
  }
  YUBA_ASSIGN_OR_RETURN(reduction.body, Evaluate(*reduce.args[0], Division::kExact));
  for (const IndexRange& range : reduce.ranges) RemoveIndex(range.name);
  when_ = outer;
  return reduction;
}

absl::Status BodyEvaluator::AddRanges(const Syntax& reduce, Reduction& reduction) {
  for (const IndexRange& range : reduce.ranges) {
    std::vector<Term> values;
    if (range.pack) {
      YUBA_ASSIGN_OR_RETURN(values, EvaluatePack(*range.extent->args[0], Division::kRoundDown));
    } else {
      YUBA_ASSIGN_OR_RETURN(Term value, Evaluate(*range.extent, Division::kRoundDown));
      values.push_back(std::move(value));
    }
    std::vector<int64_t> extents;
    for (const Term& value : values) {
      if (value.kind != Term::kInteger || value.integer < 0) {
        return Error(range.range, "the extent of an index is an integer that is not below 0");
      }
      extents.push_back(value.integer);
    }
    AddIndex(range.name, range.pack, extents, {}, reduction.variables);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Term>> BodyEvaluator::Side(const Syntax& side) {
  if (side.kind == Syntax::kPack) return EvaluatePack(*side.args[0], Division::kRoundDown);
  YUBA_ASSIGN_OR_RETURN(Term value, Evaluate(side, Division::kRoundDown));
  return std::vector<Term>{std::move(value)};
}

absl::Status BodyEvaluator::AddConditions(const Syntax& condition, Reduction& reduction) {
  YUBA_ASSIGN_OR_RETURN(std::vector<Term> left, Side(*condition.args[0]));
  YUBA_ASSIGN_OR_RETURN(std::vector<Term> right, Side(*condition.args[1]));
  // A side that is no pack is compared with every element of the other side.
  const bool left_pack = condition.args[0]->kind == Syntax::kPack;
  const bool right_pack = condition.args[1]->kind == Syntax::kPack;
  if (!left_pack && right_pack) left.assign(right.size(), left[0]);
  if (left_pack && !right_pack) right.assign(left.size(), right[0]);
  if (left.size() != right.size()) {
    return Error(condition.range, absl::StrCat("the left side has ", left.size(),
                                               " elements, the right side ", right.size()));
  }
  for (size_t i = 0; i < left.size(); ++i) {
    YUBA_RETURN_IF_ERROR(AddCondition(condition, left[i], right[i], reduction));
  }
  return absl::OkStatus();
}

absl::Status BodyEvaluator::AddCondition(const Syntax& syntax, const Term& left, const Term& right,
                                         Reduction& reduction) {
  const auto affine = [](const Term& side) {
    return side.kind == Term::kAffine || side.kind == Term::kInteger;
  };
  if (affine(left) && affine(right)) {
    YUBA_ASSIGN_OR_RETURN(Term difference, ApplyAt(Function::kSub, {left, right},
                                                   Division::kRoundDown, syntax.range));
    if (syntax.name == "<") {
      YUBA_ASSIGN_OR_RETURN(difference, ApplyAt(Function::kAdd, {difference, IntegerTerm(1)},
                                                Division::kRoundDown, syntax.range));
    }
    return AddConstraint(syntax, difference, reduction);
  }
  const Term& index = affine(left) ? left : right;
  const Term& data = affine(left) ? right : left;
  if (!affine(index) || !data.IsTyped() || IsFloat(data.type)) {
    return Error(syntax.range,
                 "a condition compares two affine index expressions, or one with an "
                 "integer that is read from a tensor");
  }
  DataCondition condition;
  condition.index = index.kind == Term::kAffine ? index.affine : ConstantAffine(index.integer);
  condition.compare = FunctionOf(syntax.name);
  condition.reversed = !affine(left);
  condition.value = data.expr;
  YUBA_RETURN_IF_ERROR(CheckSize(condition.index, syntax.range));
  reduction.data_where.push_back(std::move(condition));
  return absl::OkStatus();
}

absl::Status BodyEvaluator::AddConstraint(const Syntax& syntax, const Term& difference,
                                          Reduction& reduction) {
  Constraint constraint;
  constraint.equality = syntax.name == "==";
  constraint.expression =
      difference.kind == Term::kAffine ? difference.affine : ConstantAffine(difference.integer);
  YUBA_RETURN_IF_ERROR(CheckSize(constraint.expression, syntax.range));
  const std::vector<Interval> ranges = builder_.Ranges();
  const Interval range = Range(constraint.expression, ranges);
  if (!range.empty() && Holds(constraint, ranges)) return absl::OkStatus();
  for (Conjunction& conjunction : when_) conjunction.push_back(constraint);
  reduction.where.push_back(std::move(constraint));
  return absl::OkStatus();
}

// --- Conditions.

bool BodyEvaluator::Never(const Condition& condition) const {
  const std::vector<Interval> ranges = builder_.Ranges();
  return std::all_of(condition.begin(), condition.end(), [&](const Conjunction& conjunction) {
    return PointSet(conjunction, ranges).empty();
  });
}

absl::StatusOr<Term> BodyEvaluator::If(const Syntax& syntax, Division division) {
  YUBA_ASSIGN_OR_RETURN(const Term condition, Evaluate(*syntax.args[0], division));
  if (condition.IsStatic()) {
    return Evaluate(*syntax.args[condition.AsNumber() != 0 ? 1 : 2], division);
  }
  const absl::StatusOr<ExprPtr> converted = Convert(condition, ElementType::kBool);
  if (!converted.ok()) {
    return Error(syntax.args[0]->range,
                 "the condition of an 'if' is a bool, as a comparison gives");
  }
  absl::Status sizes;
  Walk(*converted, [&](const Expr& part) {
    if (part.kind == Expr::kIndex && sizes.ok()) {
      sizes = CheckSize(part.affine, syntax.args[0]->range);
    }
  });
  YUBA_RETURN_IF_ERROR(sizes);
  const Condition outer = when_;
  const Condition if_true = Both(outer, PointsWhere(**converted, true));
  const Condition if_false = Both(outer, PointsWhere(**converted, false));
  if (Never(if_false)) return Evaluate(*syntax.args[1], division);
  if (Never(if_true)) return Evaluate(*syntax.args[2], division);
  when_ = if_true;
  absl::StatusOr<Term> first = Evaluate(*syntax.args[1], division);
  when_ = if_false;
  absl::StatusOr<Term> second = Evaluate(*syntax.args[2], division);
  when_ = outer;
  if (!first.ok()) return first;
  if (!second.ok()) return second;
  return ApplyAt(Function::kSelect, {condition, *first, *second}, division, syntax.range);
}

// min and max of two index expressions whose ranges show which is the smaller.
absl::optional<Term> BodyEvaluator::Foresee(Function function,
                                            const std::vector<Term>& args) const {
  if (function != Function::kMin && function != Function::kMax) return absl::nullopt;
  for (const Term& arg : args) {
    if (arg.kind != Term::kAffine && arg.kind != Term::kInteger) return absl::nullopt;
  }
  const absl::StatusOr<Term> difference =
      Apply(Function::kSub, {args[0], args[1]}, Division::kRoundDown);
  if (!difference.ok() || difference->kind != Term::kAffine) return absl::nullopt;
  if (!CheckSize(difference->affine, {}).ok()) return absl::nullopt;
  const Interval range = Range(difference->affine, builder_.Ranges());
  if (range.empty() || (range.begin < 0 && range.end > 1)) return absl::nullopt;
  const bool first_is_larger = range.begin >= 0;
  return args[first_is_larger == (function == Function::kMax) ? 0 : 1];
}

// --- Random numbers.

// Where the point at hand stands among all values of the indices in scope, row-major; of a
// reduction's body these are its own indices too. Later changes of the definition rewrite this as
// any index expression, so an element keeps its number.
absl::StatusOr<Affine> BodyEvaluator::ElementInScope(const SourceRange& range) const {
  std::set<int> variables;
  for (const auto& [name, of_name] : in_scope_) variables.insert(of_name.begin(), of_name.end());
  constexpr double kMost = 1e18;  // as CheckSize
  double points = 1;
  Affine element;
  for (const int variable : variables) {
    const int64_t extent = std::max<int64_t>(builder_.variable(variable).extent, 1);
    points *= static_cast<double>(extent);
    if (points > kMost) return Error(range, "these are more random numbers than 62 bits can count");
    element = element * extent + IndexAffine(variable);
  }
  return element;
}

// A read of the scalar of that role for the `rand` that begins at `place` of the text; of seed and
// step there is one for all of them. It is made where it is not there yet.
Term BodyEvaluator::ScalarOf(SlotRole role, int place) {
  // The key is no name that a description can use.
  const char* const word = role == SlotRole::kSeed   ? "seed"
                           : role == SlotRole::kStep ? "step"
                                                     : "stream";
  const auto [found, inserted] = slots_.emplace(absl::StrCat("rand.", word, ".", place), -1);
  if (inserted) {
    Slot slot;
    slot.name = word;
    slot.role = role;
    slot.type = ElementType::kI64;
    found->second = builder_.AddSlot(std::move(slot));
  }
  return ExprTerm(ReadExpr(found->second, {}, ElementType::kI64), ElementType::kI64);
}

// random(seed + stream, step + n * 2^32, element); each `rand` of the text has a stream.
absl::StatusOr<Term> BodyEvaluator::Random(const Syntax& random) {
  int64_t number = 0;
  if (!random.args.empty()) {
    YUBA_ASSIGN_OR_RETURN(const Term term, Evaluate(*random.args[0], Division::kRoundDown));
    number = term.kind == Term::kInteger ? term.integer : -1;
    if (number < 0 || number > UINT32_MAX) {
      return Error(random.args[0]->range,
                   "the number that rand takes is an integer from 0 to 4294967295");
    }
  }
  YUBA_ASSIGN_OR_RETURN(const Affine element, ElementInScope(random.range));
  const auto add = [&](const Term& a, const Term& b) {
    return ApplyAt(Function::kAdd, {a, b}, Division::kExact, random.range);
  };
  const Term seed = ScalarOf(SlotRole::kSeed, 0);
  const Term step = ScalarOf(SlotRole::kStep, 0);
  const Term stream = ScalarOf(SlotRole::kStream, random.range.begin);
  YUBA_ASSIGN_OR_RETURN(const Term key, add(seed, stream));
  const auto high = static_cast<int64_t>(static_cast<uint64_t>(number) << 32);
  YUBA_ASSIGN_OR_RETURN(const Term count, add(step, IntegerTerm(high)));
  YUBA_ASSIGN_OR_RETURN(ExprPtr place, Convert(AffineTerm(element), ElementType::kI64));
  return ExprTerm(
      CallExpr(Function::kRandom, {key.expr, count.expr, std::move(place)}, ElementType::kF32),
      ElementType::kF32);
}

// --- Reads.

absl::StatusOr<Term> BodyEvaluator::Read(const Syntax& read, const Syntax* outside) {
  const auto found = binding_.tensors.find(read.name);
  if (found == binding_.tensors.end()) return Error(read.range, "there is no such tensor");
  const BoundTensor& tensor = found->second;
  if (tensor.absent) return tensor.absent_value;
  std::vector<Affine> position;
  bool leaves = false;
  for (size_t d = 0; d < tensor.dims.size(); ++d) {
    const BoundDim& dim = tensor.dims[d];
    const Syntax& index = *read.args[d];
    if (dim.pack) {
      YUBA_ASSIGN_OR_RETURN(const int rank, Rank(*index.args[0]));
      if (rank != static_cast<int>(dim.elements.size())) {
        return Error(index.range,
                     absl::StrCat("this pack has ", rank, " elements, but '", read.name, "' has ",
                                  dim.elements.size(), " dimensions here"));
      }
    }
    for (int e = 0; e < static_cast<int>(dim.elements.size()); ++e) {
      YUBA_ASSIGN_OR_RETURN(ReadPosition place, PositionOf(index, dim, e));
      const BoundElement& element = dim.elements[e];
      if (place.leaves && (outside == nullptr || element.one || element.missing)) {
        return Leaves(read, index, place);
      }
      leaves = leaves || place.leaves;
      if (element.missing) continue;
      for (const Affine& affine : place.position) {
        position.push_back(element.one ? ConstantAffine(0) : affine);
      }
    }
  }
  ExprPtr otherwise;
  if (leaves) {
    YUBA_ASSIGN_OR_RETURN(const Term value, Evaluate(*outside, Division::kExact));
    absl::StatusOr<ExprPtr> converted = Convert(value, tensor.type);
    if (!converted.ok()) return Error(outside->range, converted.status().message());
    otherwise = *std::move(converted);
  }
  return ExprTerm(ReadExpr(slots_.at(read.name), std::move(position), tensor.type, otherwise),
                  tensor.type);
}

absl::StatusOr<BodyEvaluator::ReadPosition> BodyEvaluator::PositionOf(const Syntax& index,
                                                                      const BoundDim& dim,
                                                                      int element) {
  const Syntax& written = dim.pack ? *index.args[0] : index;
  const std::vector<int64_t>& extents = dim.elements[element].factors;
  const int former = SetElement(dim.pack ? element : -1);
  ReadPosition place;
  absl::Status status;
  if (dim.factored) {
    for (const SyntaxPtr& factor : written.args) {
      absl::StatusOr<Affine> affine = AffineOfIndex(*factor);
      status.Update(affine.status());
      if (affine.ok()) place.position.push_back(*std::move(affine));
    }
  } else {
    absl::StatusOr<Affine> affine =
        written.kind == Syntax::kFactors ? JoinFactors(written) : AffineOfIndex(written);
    status.Update(affine.status());
    if (affine.ok()) place.position.push_back(*std::move(affine));
  }
  SetElement(former);
  YUBA_RETURN_IF_ERROR(status);
  for (size_t f = 0; f < place.position.size() && f < extents.size(); ++f) {
    YUBA_RETURN_IF_ERROR(CheckSize(place.position[f], index.range));
    NoteLeaving(place.position[f], extents[f], place);
  }
  return place;
}

absl::StatusOr<Affine> BodyEvaluator::AffineOfIndex(const Syntax& index) {
  YUBA_ASSIGN_OR_RETURN(const Term value, Evaluate(index, Division::kRoundDown));
  if (value.kind == Term::kAffine) return value.affine;
  if (value.kind == Term::kInteger) return ConstantAffine(value.integer);
  if (value.IsTyped()) {
    return Error(index.range,
                 "a position cannot come from data; read with a condition instead, as "
                 "pick(r: n where r == wrap(ids[i], n)) x[r]");
  }
  return Error(index.range,
               "a position is a sum of indices times integers; say anything else as a "
               "condition of a reducer's 'where'");
}

// (a c) at a dimension that is not written as factors: a*|c| + c.
absl::StatusOr<Affine> BodyEvaluator::JoinFactors(const Syntax& factors) {
  Affine joined;
  for (size_t f = 0; f < factors.args.size(); ++f) {
    YUBA_ASSIGN_OR_RETURN(const Affine factor, AffineOfIndex(*factors.args[f]));
    const int variable = factor.BareIndex();
    if (f > 0 && variable < 0) {
      return Error(factors.args[f]->range,
                   "only an index says how large this factor is; a constant "
                   "can stand for the first factor");
    }
    const int64_t extent = f > 0 ? builder_.variable(variable).extent : 1;
    YUBA_ASSIGN_OR_RETURN(const Term scaled,
                          ApplyAt(Function::kMul, {AffineTerm(joined), IntegerTerm(extent)},
                                  Division::kRoundDown, factors.range));
    joined =
        (scaled.kind == Term::kAffine ? scaled.affine : ConstantAffine(scaled.integer)) + factor;
  }
  return joined;
}

// Box analysis computes with values below 2^62 (regions/bounds.h), and extents and attributes come
// from a user's file.
absl::Status BodyEvaluator::CheckSize(const Affine& affine, const SourceRange& range) const {
  constexpr double kLimit = 1e18;
  double size = std::abs(static_cast<double>(affine.constant));
  for (const auto& [variable, coefficient] : affine.terms) {
    size += std::abs(static_cast<double>(coefficient)) *
            static_cast<double>(builder_.variable(variable).extent);
  }
  if (size < kLimit) return absl::OkStatus();
  return Error(range, "this index expression does not fit 62 bits with the extents of this use");
}

void BodyEvaluator::NoteLeaving(const Affine& affine, int64_t extent, ReadPosition& read) const {
  const std::vector<Interval> ranges = builder_.Ranges();
  for (const Conjunction& conjunction : when_) {
    const PointSet points(conjunction, ranges);
    if (points.empty()) continue;
    const Interval hull = points.Hull(affine);
    if (hull.begin >= 0 && hull.end <= extent) continue;
    read.leaves = true;
    read.range = hull;
    read.extent = extent;
  }
}

absl::Status BodyEvaluator::Leaves(const Syntax& read, const Syntax& index,
                                   const ReadPosition& place) const {
  return Error(index.range,
               absl::StrCat("this can leave '", read.name, "': it runs over ",
                            ToString(place.range), ", the extent is ", place.extent, "; write (",
                            read.name, "[...] else value), or narrow it with 'if' or 'where'"));
}

}  // namespace yuba
