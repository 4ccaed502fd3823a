// Loops, branches, and the bounds that constraints leave.
#include "compiler/kernels/kernel_builder.h"
#include "opsemantics/base/check.h"

namespace yuba::kernels {

void KernelBuilder::Bind(int index, Value value) {
  values_[index] = value;
  for (Access& access : accesses_) {
    if (access.coefficients[index])
      access.offset = s_.Add(access.offset, s_.Mul(access.coefficients[index], value));
  }
  if (index >= shared_) return;
  for (KernelBuilder* other : others_) other->Bind(index, value);
}

// Binds the indices of a loop, `turn` turns behind its begin.
void KernelBuilder::BindLoop(const MergedLoop& loop, Value turn) {
  const int last = loop.indices.back();
  if (loop.indices.size() == 1) return Bind(last, s_.Add(begin_[last], turn));
  for (Access& access : accesses_) {
    if (!access.coefficients[last]) continue;
    for (const int index : loop.indices) {
      if (!access.coefficients[index]) continue;
      access.offset = s_.Add(access.offset, s_.Mul(access.coefficients[index], begin_[index]));
    }
    access.offset = s_.Add(access.offset, s_.Mul(access.coefficients[last], turn));
  }
  if (last >= shared_) return;
  for (KernelBuilder* other : others_) other->BindLoop(loop, turn);
}

// A thread's lanes are at constant distances from the first one, so that LLVM sees that they are
// neighbours and makes one access of them.
void KernelBuilder::BindLane(int lane) {
  lane_ = lane;
  int rest = lane;
  for (auto at = lane_loops_.rbegin(); at != lane_loops_.rend(); ++at) {
    const int number = rest % at->lanes;
    rest /= at->lanes;
    if (threads_ == nullptr) {
      BindLoop(at->loop, s_.Add(at->base, s_.Int(number)));
      continue;
    }
    const int last = at->loop.indices.back();
    BindLoop(at->loop, at->base);
    if (number == 0) continue;
    if (values_[last]) values_[last] = s_.Add(values_[last], s_.Int(number));
    for (Access& access : accesses_) {
      if (!access.coefficients[last]) continue;
      const Value distance = s_.Mul(access.coefficients[last], s_.Int(number));
      if (access.strides.steps[last])
        access.lane = access.lane ? s_.Add(access.lane, distance) : distance;
      else
        access.offset = s_.Add(access.offset, distance);
    }
  }
}

// Runs `action` with lanes along the loops, outermost first: all lanes of the last one for each
// lane of the one before it.
void KernelBuilder::WithLanes(const std::vector<LaneLoop>& loops, const Action& action) {
  int lanes = 1;
  for (const LaneLoop& loop : loops) lanes *= loop.lanes;
  const auto set = [&](KernelBuilder& builder, int count) {
    builder.lanes_ = count;
    builder.lane_loops_ = loops;
  };
  const auto for_all = [&](int count) {
    set(*this, count);
    for (KernelBuilder* other : others_) set(*other, count);
  };
  for_all(lanes);
  action();
  for_all(0);
}

Value KernelBuilder::AffineValue(const Affine& affine) {
  const Affine known = Substitute(affine, plan_.solved);
  Value sum = s_.Int(known.constant);
  for (const auto& [index, coefficient] : known.terms) {
    YUBA_CHECK(values_[index]) << definition_.name << ": index " << index << " is not known";
    sum = s_.Add(sum, s_.Mul(values_[index], s_.Int(coefficient)));
  }
  return sum;
}

Values KernelBuilder::For(Value begin, Value end, Value step, const Values& carried,
                          const std::function<Values(Value, Values)>& body) {
  auto loop = b_.create<scf::ForOp>(
      loc(), begin, end, step, carried,
      [&](mlir::OpBuilder&, mlir::Location, Value index, mlir::ValueRange values) {
        Values out = Scoped([&] { return body(index, Values(values.begin(), values.end())); });
        b_.create<scf::YieldOp>(loc(), out);
      });
  return Values(loop.getResults().begin(), loop.getResults().end());
}

// A loop over one index from `begin` to `end`, excluded.
Values KernelBuilder::LoopOver(int index, Value begin, Value end, const Values& carried,
                               const Inner& inner) {
  return For(begin, end, s_.Int(1), carried, [&](Value value, Values values) {
    Bind(index, value);
    return inner(std::move(values));
  });
}

// Emits `inner` under `condition`; where that does not hold, the carried values stay as they are.
Values KernelBuilder::Where(Value condition, Values carried, const Inner& inner) {
  auto then = [&](mlir::OpBuilder&, mlir::Location) {
    b_.create<scf::YieldOp>(loc(), Scoped([&] { return inner(carried); }));
  };
  if (carried.empty()) {
    b_.create<scf::IfOp>(loc(), condition, then);
    return carried;
  }
  auto branch = b_.create<scf::IfOp>(loc(), condition, then, [&](mlir::OpBuilder&, mlir::Location) {
    b_.create<scf::YieldOp>(loc(), carried);
  });
  return Values(branch.getResults().begin(), branch.getResults().end());
}

// Emits `inner` with all `units`, indices of extent 1, bound to 0, under the condition that the
// device's ranges of them are not empty: no loops are needed.
Values KernelBuilder::WithUnits(const std::vector<int>& units, Values carried, const Inner& inner) {
  if (units.empty()) return inner(std::move(carried));
  Value all;
  for (const int index : units) {
    Value there = Compare(arith::CmpIPredicate::slt, begin_[index], end_[index]);
    all = all ? s_.And(all, there) : there;
  }
  return Where(all, std::move(carried), [&](Values values) {
    for (const int index : units) Bind(index, s_.Int(0));
    return inner(std::move(values));
  });
}

void KernelBuilder::OverIndices(const std::vector<int>& indices, const Action& action) {
  std::vector<int> units, loops;
  for (const int index : indices)
    (definition_.indices[index].extent == 1 ? units : loops).push_back(index);
  WithUnits(units, {}, [&](const Values&) {
    OverLoops(loops, 0, action);
    return Values();
  });
}

void KernelBuilder::OverLoops(const std::vector<int>& indices, size_t at, const Action& action) {
  if (at == indices.size()) return action();
  const int index = indices[at];
  const Action next = [&] { OverLoops(indices, at + 1, action); };
  if (index == plan_.block) return OverBlocks(next);
  LoopOver(index, begin_[index], end_[index], {}, [&](const Values&) {
    next();
    return Values();
  });
}

void KernelBuilder::OverOuter(const Action& action) {
  std::vector<int> inner;  // inside of the shared loops
  for (const int index : plan_.outer)
    if (index >= shared_) inner.push_back(index);
  if (function_.target().parallel && shared_ == 0) {
    OverPoints(action);
  } else {
    OverIndices(inner, action);
  }
}

// Runs `action` for each lane at hand.
void KernelBuilder::ForLanes(const Action& action) {
  if (lanes_ == 0) return action();
  for (int lane = 0; lane < lanes_; ++lane) {
    Scoped([&] {
      BindLane(lane);
      action();
    });
  }
  lane_ = -1;
}

// Marks an access to the result as overlapping no access of another lane.
void KernelBuilder::SetLane(LLVM::AliasAnalysisOpInterface op) {
  if (lane_ < 0 || lanes_ < 2 || plan_.block < 0) return;
  mlir::MLIRContext* context = b_.getContext();
  auto distinct = [&] { return mlir::DistinctAttr::create(b_.getUnitAttr()); };
  if (scopes_.empty()) {
    auto domain = LLVM::AliasScopeDomainAttr::get(context, distinct(), mlir::StringAttr());
    for (int i = 0; i < kRowBlock; ++i)
      scopes_.push_back(LLVM::AliasScopeAttr::get(context, distinct(), domain, mlir::StringAttr()));
  }
  std::vector<mlir::Attribute> others = scopes_;
  others.erase(others.begin() + lane_);
  op.setAliasScopes(mlir::ArrayAttr::get(context, {scopes_[lane_]}));
  op.setNoAliasScopes(mlir::ArrayAttr::get(context, others));
}

// Blocks of rows, then the rows that are left, one by one.
void KernelBuilder::OverBlocks(const Action& action) {
  const int index = plan_.block;
  Value blocks = s_.FloorDiv(s_.Max(s_.Sub(end_[index], begin_[index]), s_.Int(0)), kRowBlock);
  Value middle = s_.Add(begin_[index], s_.Mul(blocks, s_.Int(kRowBlock)));
  For(begin_[index], middle, s_.Int(kRowBlock), {}, [&](Value base, const Values&) {
    WithLanes({{{{index}, absl::nullopt}, kRowBlock, s_.Sub(base, begin_[index])}}, action);
    return Values();
  });
  LoopOver(index, middle, end_[index], {}, [&](const Values&) {
    action();
    return Values();
  });
}

// The least (or greatest) value that the terms of a bound other than that of `index` can have;
// terms of indices that are known have one value.
Value KernelBuilder::Rest(const Bound& bound, int index, bool least) {
  Value sum = s_.Int(bound.expression.constant);
  for (const auto& [slot, coefficient] : bound.arguments)
    sum = s_.Add(sum, s_.Mul(RangeArgument(slot), s_.Int(coefficient)));
  for (const auto& [other, coefficient] : bound.expression.terms) {
    if (other == index) continue;
    Value value = values_[other];
    if (!value && (coefficient > 0) == least) value = begin_[other];
    if (!value) value = s_.Sub(end_[other], s_.Int(1));
    sum = s_.Add(sum, s_.Mul(value, s_.Int(coefficient)));
  }
  return sum;
}

// [begin, end) that the bounds leave of the range of `index`, for any values of the indices that
// are not known yet. Where all others are known it is exact; an equality then leaves at most one
// point.
std::pair<Value, Value> KernelBuilder::Narrowed(int index) {
  Value begin = begin_[index], end = end_[index];
  for (const Bound& bound : plan_.bounds) {
    const int64_t c = Coefficient(bound.expression, index);
    if (c == 0) continue;
    // c * index <= -rest; an equality also says c * index >= -rest.
    Value most = s_.Sub(s_.Int(0), Rest(bound, index, true));
    if (c > 0)
      end = s_.Min(end, s_.Add(s_.FloorDiv(most, c), s_.Int(1)));
    else
      begin = s_.Max(begin, s_.CeilDiv(s_.Sub(s_.Int(0), most), -c));
    if (!bound.equality) continue;
    Value least = s_.Sub(s_.Int(0), Rest(bound, index, false));
    if (c > 0)
      begin = s_.Max(begin, s_.CeilDiv(least, c));
    else
      end = s_.Min(end, s_.Add(s_.FloorDiv(s_.Sub(s_.Int(0), least), -c), s_.Int(1)));
  }
  return {begin, end};
}

Value KernelBuilder::Compare(arith::CmpIPredicate order, Value a, Value b) {
  return b_.create<arith::CmpIOp>(loc(), order, a, b);
}

// Whether a bound all of whose indices are known holds.
Value KernelBuilder::Holds(const Bound& bound) {
  Value sum = Rest(bound, -1, true);
  return Compare(bound.equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle, sum,
                 s_.Int(0));
}

// The bounds to be checked behind step `step` (-1: before the first step): their last index becomes
// known there, and not by a loop, whose range would enforce them.
std::vector<const Bound*> KernelBuilder::BoundsCheckedAfter(int step) const {
  std::vector<const Bound*> checked;
  for (const Bound& bound : plan_.bounds) {
    int last = -1;
    for (int k = 0; k < static_cast<int>(plan_.steps.size()); ++k) {
      const LoopStep& s = plan_.steps[k];
      if (s.kind != LoopStep::kGuard && Coefficient(bound.expression, s.index) != 0) last = k;
    }
    if (last == step && (step < 0 || plan_.steps[step].kind == LoopStep::kLookup))
      checked.push_back(&bound);
  }
  return checked;
}

Values KernelBuilder::WhereBoundsHold(int step, Values carried, const Inner& inner) {
  Value all;
  for (const Bound* bound : BoundsCheckedAfter(step)) {
    Value holds = Holds(*bound);
    all = all ? s_.And(all, holds) : holds;
  }
  return all ? Where(all, std::move(carried), inner) : inner(std::move(carried));
}

}  // namespace yuba::kernels
