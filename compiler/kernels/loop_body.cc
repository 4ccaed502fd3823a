// What happens inside of the loops over outputs: reductions and accumulators.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "compiler/kernels/kernel_builder.h"

namespace yuba::kernels {

Values KernelBuilder::Steps(int at, Values carried) {
  if (at == static_cast<int>(plan_.steps.size())) return Term(std::move(carried));
  const LoopStep& step = plan_.steps[at];
  const Inner next = [&](Values values) { return Steps(at + 1, std::move(values)); };
  switch (step.kind) {
    case LoopStep::kLoop: {
      if (values_[step.index]) return next(std::move(carried));  // bound by WithUnits already
      auto [begin, end] = Narrowed(step.index);
      if (InGroups() && step.index == threads_->step_of_parts)
        std::tie(begin, end) = OwnPart(begin, end);
      if (InGroups() && step.index == threads_->step) {
        return For(s_.Add(begin, in_group_), end, s_.Int(threads_->group), carried,
                   [&, index = step.index](Value value, Values values) {
                     Bind(index, value);
                     return next(std::move(values));
                   });
      }
      return LoopOver(step.index, begin, end, carried, next);
    }
    case LoopStep::kLookup: return Lookup(at, std::move(carried), next);
    case LoopStep::kGuard: {
      Value holds = DataHolds(definition_.data_where[step.condition]);
      return Where(holds, std::move(carried), next);
    }
  }
  return carried;
}

// Of a loop's range the part that is the block's, where several blocks share a point out.
std::pair<Value, Value> KernelBuilder::OwnPart(Value begin, Value end) {
  if (threads_->parts == 1) return {begin, end};
  const Value each = s_.CeilDiv(s_.Sub(end, begin), threads_->parts);
  const Value own = s_.Add(begin, s_.Mul(part_, each));
  return {own, s_.Min(s_.Add(own, each), end)};
}

// The value that the condition of a lookup gives its index: the condition is coefficient * index +
// rest == value, with a coefficient of 1 or -1.
Value KernelBuilder::LookedUp(const LoopStep& step) {
  const DataCondition& condition = definition_.data_where[step.condition];
  const int64_t coefficient = Coefficient(condition.index, step.index);
  const Affine rest = condition.index - IndexAffine(step.index) * coefficient;
  const Value value = s_.Convert(EmitRoot(condition.value), ElementType::kI64).value;
  return s_.Mul(s_.Sub(value, AffineValue(rest)), s_.Int(coefficient));
}

Values KernelBuilder::Lookup(int at, Values carried, const Inner& next) {
  const int index = plan_.steps[at].index;
  const Value value = LookedUp(plan_.steps[at]);
  Value inside = s_.And(Compare(arith::CmpIPredicate::sle, begin_[index], value),
                        Compare(arith::CmpIPredicate::slt, value, end_[index]));
  return Where(inside, std::move(carried), [&](Values values) {
    Bind(index, value);
    return WhereBoundsHold(at, std::move(values), next);
  });
}

Value KernelBuilder::DataHolds(const DataCondition& condition) {
  Value index = AffineValue(condition.index);
  Value value = s_.Convert(EmitRoot(condition.value), ElementType::kI64).value;
  const auto order = condition.compare == Function::kEq   ? arith::CmpIPredicate::eq
                     : condition.compare == Function::kLt ? arith::CmpIPredicate::slt
                                                          : arith::CmpIPredicate::sle;
  if (condition.reversed) std::swap(index, value);
  return Compare(order, index, value);
}

Values KernelBuilder::Term(Values carried) {
  if (plan_.mode != LoopPlan::kRegister) {
    // The values of all lanes come first, so that what the lanes share is read once.
    std::vector<Typed> values;
    ForLanes([&] { values.push_back(s_.Convert(EmitRoot(definition_.body), accumulator_type_)); });
    size_t next = 0;
    ForLanes([&] { IntoMemory(values[next++]); });
    return carried;
  }
  if (IsArg()) return Better(EmitRoot(definition_.body), std::move(carried));
  size_t next = 0;
  Values sums = carried;
  ForLanes([&] {
    Typed value = EmitRoot(definition_.body);
    RoundHere(value.value);
    value = s_.Convert(value, accumulator_type_);
    if (active_) {
      value.value = b_.create<arith::SelectOp>(loc(), active_, value.value, IdentityValue().value);
    }
    const Typed sum = {carried[next], accumulator_type_};
    sums[next++] = s_.Combine(definition_.reducer, sum, value).value;
  });
  return sums;
}

void KernelBuilder::IntoMemory(Typed value) {
  const bool keep = definition_.reducer != Reducer::kPick;
  if (tiled_) {
    if (keep) value = s_.Combine(definition_.reducer, LoadTile(), value);
    StoreTile(value);
  } else {
    if (keep) {
      Typed sum = s_.Convert(Load(result_), accumulator_type_);
      value = s_.Combine(definition_.reducer, sum, value);
    }
    Store(value, result_);
  }
}

// carried: the best value, and its row-major position among the reduction indices, -1 before the
// first. The first term stays the best one where it is not a number, others that are none never
// are: a thread that has not the first one skips them.
Values KernelBuilder::Better(Typed value, Values carried) {
  if (shares_terms_) value = s_.Convert(value, CombinedType());
  Typed best = {carried[0], value.type};
  const bool max = definition_.reducer == Reducer::kArgMax;
  Value better = max ? s_.Less(best, value) : s_.Less(value, best);
  Value first = Compare(arith::CmpIPredicate::slt, carried[1], s_.Int(0));
  const Value position = PositionAt(values_);
  if (shares_terms_) {
    first = s_.And(first, s_.Call(Function::kEq, {value, value}).value);
    better = b_.create<arith::OrIOp>(
        loc(), better, Compare(arith::CmpIPredicate::eq, position, PositionAt(begin_)));
  }
  better = b_.create<arith::OrIOp>(loc(), better, first);
  return {b_.create<arith::SelectOp>(loc(), better, value.value, best.value),
          b_.create<arith::SelectOp>(loc(), better, position, carried[1])};
}

// Row-major among the reduction indices, where these have such values.
Value KernelBuilder::PositionAt(const std::vector<Value>& values) {
  Value position = s_.Int(0);
  for (size_t i = 0; i < definition_.indices.size(); ++i) {
    if (!definition_.indices[i].reduction) continue;
    position = s_.Add(s_.Mul(position, s_.Int(definition_.indices[i].extent)), values[i]);
  }
  return position;
}

void KernelBuilder::BuildLoops() {
  if (threads_ != nullptr && threads_->OneAfterTheOther())
    return shared_ > 0 ? ByGroup() : OverPoints([&] { IsSum() ? SumsByGroup() : ByGroup(); });
  switch (plan_.mode) {
    case LoopPlan::kMap: OverOuter([&] { MapElements(); }); break;
    case LoopPlan::kRegister: OverOuter([&] { InRegisters(); }); break;
    case LoopPlan::kRow:
      OverOuter([&] {
        if (tiled_)
          InTiles();
        else
          InRow();
      });
      break;
    case LoopPlan::kScatter: {
      std::vector<int> inner;  // the output indices that are not in plan_.outer
      for (int i = 0; i < static_cast<int>(definition_.indices.size()); ++i) {
        if (!definition_.indices[i].reduction &&
            std::find(plan_.outer.begin(), plan_.outer.end(), i) == plan_.outer.end())
          inner.push_back(i);
      }
      OverOuter([&] {
        OverIndices(inner, [&] { Store(IdentityValue(), whole_result_); });
        Accumulate({});
      });
      break;
    }
  }
}

Values KernelBuilder::Accumulate(Values carried) {
  std::vector<int> units;
  for (const LoopStep& step : plan_.steps) {
    const bool bounded = std::any_of(
        plan_.bounds.begin(), plan_.bounds.end(),
        [&](const Bound& bound) { return Coefficient(bound.expression, step.index) != 0; });
    if (step.kind == LoopStep::kLoop && definition_.indices[step.index].extent == 1 &&
        step.index != plan_.row && !bounded) {
      units.push_back(step.index);
    }
  }
  return WhereBoundsHold(-1, std::move(carried), [&](Values values) {
    return WithUnits(units, std::move(values),
                     [&](Values inner) { return Steps(0, std::move(inner)); });
  });
}

// The elements at hand of a map. All lanes are computed before one is written.
void KernelBuilder::MapElements() {
  Values stored;
  ForLanes([&] {
    const Typed value = EmitRoot(definition_.body);
    RoundHere(value.value);
    stored.push_back(Kept(value));
    const std::string key = RowKey(place_.computes, definition_.left);
    if (!key.empty()) {
      function_.row()[key] = s_.FromStored(stored.back(), definition_.result.type);
    }
  });
  size_t next = 0;
  WhereActive([&] { ForLanes([&] { Write(stored[next++], result_); }); });
}

// Runs `action` where the turn at hand is one.
void KernelBuilder::WhereActive(const Action& action) {
  if (!active_) return action();
  Where(active_, {}, [&](const Values&) {
    action();
    return Values();
  });
}

// An element that one thread computes.
Typed KernelBuilder::InRegister() {
  if (!IsArg()) return {Accumulate({IdentityValue().value})[0], accumulator_type_};
  const ElementType type = TypeOf(*definition_.body, definition_.operands);
  const Reducer order = definition_.reducer == Reducer::kArgMax ? Reducer::kMax : Reducer::kMin;
  const Values best = Accumulate({s_.Identity(order, type).value, s_.Int(-1)});
  return {s_.Max(best[1], s_.Int(0)), ElementType::kI64};
}

void KernelBuilder::InRegisters() {
  if (InGroups()) {
    shares_terms_ = IsArg();
    const Values carried = Accumulate(CarriedOf(NothingYet()));
    shares_terms_ = false;
    return StoreByFirst(OverGroup(AccumulatedOf(carried)[0]));
  }
  if (IsArg()) return Store(InRegister(), result_);
  const Values sums = Accumulate(Values(std::max(lanes_, 1), IdentityValue().value));
  size_t next = 0;
  ForLanes([&] { Store({sums[next++], accumulator_type_}, result_); });
}

void KernelBuilder::InRow() {
  const int row = plan_.row;
  ForLanes([&] {
    LoopOver(row, begin_[row], end_[row], {}, [&](const Values&) {
      Store(IdentityValue(), result_);
      return Values();
    });
  });
  Accumulate({});
}

void KernelBuilder::InTiles() {
  const int row = plan_.row;
  For(begin_[row], end_[row], s_.Int(kRowTile), {}, [&](Value first, const Values&) {
    end_[row] = s_.Min(end_[row], s_.Add(first, s_.Int(kRowTile)));
    begin_[row] = first;
    auto over_tile = [&](const Action& action) {
      LoopOver(row, begin_[row], end_[row], {}, [&](const Values&) {
        ForLanes(action);
        return Values();
      });
    };
    over_tile([&] { StoreTile(IdentityValue()); });
    Accumulate({});
    over_tile([&] { Store(LoadTile(), result_); });
    return Values();
  });
}

void KernelBuilder::AllocateTile() {
  tile_ = b_.create<LLVM::AllocaOp>(loc(), LLVM::LLVMPointerType::get(b_.getContext()),
                                    s_.StoredType(accumulator_type_), s_.Int(kRowTile * kRowBlock));
}

Value KernelBuilder::TileAddress() {
  Value offset = s_.Sub(values_[plan_.row], begin_[plan_.row]);
  if (lane_ > 0) offset = s_.Add(offset, s_.Int(lane_ * kRowTile));
  return b_.create<LLVM::GEPOp>(loc(), tile_.getType(), s_.StoredType(accumulator_type_), tile_,
                                mlir::ValueRange{offset}, /*inbounds=*/true);
}

Typed KernelBuilder::LoadTile() {
  mlir::Type type = s_.StoredType(accumulator_type_);
  Value stored = b_.create<LLVM::LoadOp>(loc(), type, TileAddress(), Alignment(type));
  return s_.FromStored(stored, accumulator_type_);
}

void KernelBuilder::StoreTile(Typed value) {
  Value stored = s_.ToStored(value, accumulator_type_);
  b_.create<LLVM::StoreOp>(loc(), stored, TileAddress(), Alignment(stored.getType()));
}

// A product that another definition reads is rounded, as if it had been stored: it must not become
// one operation with a sum there. Of a reduction over one value the sum is such a product too.
void KernelBuilder::RoundHere(Value value) {
  if (shared_ == 0) return;
  for (const Index& index : definition_.indices)
    if (index.reduction && index.extent != 1) return;
  while (auto negated = value.getDefiningOp<arith::NegFOp>()) value = negated.getOperand();
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    product.setFastmath(arith::FastMathFlags::none);
}

}  // namespace yuba::kernels
