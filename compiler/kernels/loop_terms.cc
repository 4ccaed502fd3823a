// The values of bodies and of conditions on data: terms, the branches among them, and the places at
// which terms that are used more than once are computed (placement.h).
#include <algorithm>
#include <memory>
#include <string>

#include "compiler/kernels/kernel_builder.h"
#include "opsemantics/regions/conditions.h"

namespace yuba::kernels {

Placement KernelBuilder::PlacementOf(const ExprPtr& root) const {
  return Placement(root, [this](const Expr& expr) {
    if (expr.kind == Expr::kRead) return !IsInside(expr);
    return expr.function == Function::kSelect && NeedsBranch(expr);
  });
}

Typed KernelBuilder::EmitRoot(const ExprPtr& root) {
  auto placed = placed_.find(root.get());
  if (placed == placed_.end()) placed = placed_.emplace(root.get(), PlacementOf(root)).first;
  placement_ = &placed->second;
  reached_.clear();
  may_be_.clear();
  const std::vector<Region>& regions = placement_->regions();
  for (size_t r = 0; r < regions.size(); ++r)
    if (regions[r].kind == Region::kGuard) Reached(static_cast<int>(r));
  Enter(0);
  const Typed value = Emit(*root);
  // A guarded value is one only where this root needs it.
  for (const Region& region : regions)
    if (region.kind == Region::kGuard) memo_.erase(region.owner);
  return value;
}

// Computes what is computed at the beginning of a region.
void KernelBuilder::Enter(int region) {
  for (const Hoisted& hoisted : placement_->regions()[region].hoisted) {
    if (memo_.count(hoisted.term) > 0) continue;
    const bool guarded = hoisted.guard >= 0 && Reached(hoisted.guard);
    memo_[hoisted.term] = guarded ? Guarded(*hoisted.term, hoisted.guard) : Emit(*hoisted.term);
  }
}

// The value of a term where its guard holds, 0 elsewhere. The type of the value is known only when
// it has been emitted.
Typed KernelBuilder::Guarded(const Expr& term, int region) {
  auto inside = std::make_unique<mlir::Block>();
  Typed value = Scoped([&] {
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(inside.get());
    Enter(region);
    Typed computed = Emit(term);
    b_.create<scf::YieldOp>(loc(), computed.value);
    return computed;
  });
  const mlir::Type type = value.value.getType();
  auto branch = b_.create<scf::IfOp>(loc(), mlir::TypeRange(type), Reached(region), true);
  mlir::Block& then = branch.getThenRegion().front();
  then.getOperations().clear();
  then.getOperations().splice(then.end(), inside->getOperations());
  mlir::OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&branch.getElseRegion().front());
  Value zero =
      b_.create<arith::ConstantOp>(loc(), llvm::cast<mlir::TypedAttr>(b_.getZeroAttr(type)));
  b_.create<scf::YieldOp>(loc(), zero);
  return {branch.getResult(0), value.type};
}

// Whether the point at hand is in a region, as far as indices tell; null where it is in any case.
// It reads nothing, and all that it depends on is known where a root begins.
Value KernelBuilder::Reached(int region) {
  if (region == 0) return Value();
  const auto known = reached_.find(region);
  if (known != reached_.end()) return known->second;
  const Region& inner = placement_->regions()[region];
  Value reached;
  if (inner.kind == Region::kGuard) {
    reached = Reached(inner.uses[0]);
    for (int use : inner.uses) reached = reached ? Either(reached, Reached(use)) : reached;
  } else {
    reached = Both(Reached(inner.parent), ConditionOf(inner));
  }
  return reached_[region] = reached;
}

// What the side of a branch adds to the conditions around it; null where it adds nothing.
Value KernelBuilder::ConditionOf(const Region& region) {
  if (region.owner->kind != Expr::kRead)
    return MayBe(region.owner->args[0], region.kind == Region::kTrue);
  const Value inside = Inside(*region.owner);
  if (!inside) return Value();
  return b_.create<arith::XOrIOp>(loc(), inside, b_.create<arith::ConstantIntOp>(loc(), true, 1));
}

// Whether a condition can have this truth at the point at hand, as box analysis has it: null where
// data decides, for then both sides of the branch may be read.
Value KernelBuilder::MayBe(const ExprPtr& condition, bool value) {
  const auto known = may_be_.find({condition.get(), value});
  if (known != may_be_.end()) return known->second;
  return may_be_[{condition.get(), value}] = MayBeNew(*condition, value);
}

Value KernelBuilder::MayBeNew(const Expr& expr, bool value) {
  if (expr.kind != Expr::kCall) return Value();
  if (expr.function == Function::kNot) return MayBe(expr.args[0], !value);
  if (expr.function == Function::kAnd || expr.function == Function::kOr) {
    const Value a = MayBe(expr.args[0], value), b = MayBe(expr.args[1], value);
    return (expr.function == Function::kAnd) == value ? Both(a, b) : Either(a, b);
  }
  if (!IsComparison(expr.function)) return Value();
  const bool affine = AffineOf(*expr.args[0]).has_value() && AffineOf(*expr.args[1]).has_value();
  if (!affine) return Value();
  const Value holds = Emit(expr).value;
  if (value) return holds;
  return b_.create<arith::XOrIOp>(loc(), holds, b_.create<arith::ConstantIntOp>(loc(), true, 1));
}

// Of two conditions, null being one that always holds.
Value KernelBuilder::Both(Value a, Value b) { return !a ? b : !b ? a : s_.And(a, b); }
Value KernelBuilder::Either(Value a, Value b) {
  return !a || !b ? Value() : Value(b_.create<arith::OrIOp>(loc(), a, b));
}

Typed KernelBuilder::Emit(const Expr& expr) {
  auto known = memo_.find(&expr);
  if (known != memo_.end()) return known->second;
  Typed value = EmitNew(expr);
  memo_[&expr] = value;
  return value;
}

Typed KernelBuilder::EmitNew(const Expr& expr) {
  switch (expr.kind) {
    case Expr::kLiteral: return s_.Literal(expr);
    case Expr::kIndex: return {AffineValue(expr.affine), ElementType::kI64};
    case Expr::kRead: return Read(expr);
    case Expr::kCall: break;
  }
  if (expr.function == Function::kCast) return Cast(Emit(*expr.args[0]), expr.type);
  if (expr.function == Function::kSelect && NeedsBranch(expr)) return Select(expr);
  std::vector<Typed> args;
  for (const ExprPtr& arg : expr.args) args.push_back(Emit(*arg));
  if (expr.function == Function::kWrap || expr.function == Function::kLabel)
    CheckIndex(*expr.args[0], args);
  return s_.Call(expr.function, args);
}

// Notes an index outside of -extent to extent - 1, or a label that is neither of 0 to extent - 1
// nor the ignored one, if it is the first. `args` are those of the call.
void KernelBuilder::CheckIndex(const Expr& term, const std::vector<Typed>& args) {
  const Value record = function_.IndexRecord();
  if (!record) return;
  const bool label = args.size() == 3;
  const Value value = s_.Convert(args[0], ElementType::kI64).value;
  const Value limit = s_.Convert(args[1], ElementType::kI64).value;
  const Value least = label ? s_.Int(0) : s_.Sub(s_.Int(0), limit);
  const Value ignored = label ? s_.Convert(args[2], ElementType::kI64).value : s_.Int(0);
  Value outside = Either(Compare(arith::CmpIPredicate::slt, value, least),
                         Compare(arith::CmpIPredicate::sge, value, limit));
  if (label) outside = s_.And(outside, Compare(arith::CmpIPredicate::ne, value, ignored));
  b_.create<scf::IfOp>(loc(), outside, [&](mlir::OpBuilder&, mlir::Location) {
    const Expr* const read = FirstRead(term);
    const Value place = s_.Int(read ? function_.PlaceOf(place_.operands[read->operand]) : -1);
    const Value element = read ? ElementOf(*read) : s_.Int(-1);
    Note(record, {place, value, limit, element, s_.Int(label), ignored});
    b_.create<scf::YieldOp>(loc());
  });
}

// The number of the element that is read among all of the tensor, row-major.
Value KernelBuilder::ElementOf(const Expr& read) {
  Value element = s_.Int(0);
  const std::vector<int64_t>& dims = definition_.operands[read.operand].dims;
  for (size_t d = 0; d < dims.size(); ++d)
    element = s_.Add(s_.Mul(element, s_.Int(dims[d])), AffineValue(read.position[d]));
  return element;
}

// Threads may meet such indices at the same time: the one that sets the record's first number
// writes the others.
void KernelBuilder::Note(Value record, const Values& numbers) {
  const auto order = LLVM::AtomicOrdering::monotonic;
  const Value exchanged =
      b_.create<LLVM::AtomicCmpXchgOp>(loc(), record, s_.Int(0), s_.Int(1), order, order);
  const Value first = b_.create<LLVM::ExtractValueOp>(loc(), exchanged, 1);
  b_.create<scf::IfOp>(loc(), first, [&](mlir::OpBuilder&, mlir::Location) {
    for (int i = 0; i < static_cast<int>(numbers.size()); ++i) {
      const Value at = b_.create<LLVM::GEPOp>(loc(), pointer_, b_.getI64Type(), record,
                                              llvm::ArrayRef<LLVM::GEPArg>{i + 1});
      b_.create<LLVM::StoreOp>(loc(), numbers[i], at, 8);
    }
    b_.create<scf::YieldOp>(loc());
  });
}

const Expr* KernelBuilder::FirstRead(const Expr& term) {
  if (term.kind == Expr::kRead) return &term;
  for (const ExprPtr& arg : term.args) {
    if (const Expr* const read = FirstRead(*arg)) return read;
  }
  return nullptr;
}

// A cast to a small float must round, although its value is then kept in a wider type.
Typed KernelBuilder::Cast(Typed value, ElementType type) {
  if (type == value.type) return value;
  Value stored = s_.ToStored(value, type);
  return s_.FromStored(stored, type);
}

// A select on indices needs a branch where the side that is not taken may read outside of the
// buffers. A select on data may compute both sides.
bool KernelBuilder::NeedsBranch(const Expr& expr) const {
  bool reads = false;
  auto has_reads = [&](const Expr& e) { reads |= e.kind == Expr::kRead && !MayReadAnywhere(e); };
  Walk(expr.args[1], has_reads);
  Walk(expr.args[2], has_reads);
  return reads && NamesIndex(*expr.args[0]);
}

Typed KernelBuilder::Select(const Expr& expr) {
  const ElementType type = s_.CommonType(TypeOf(*expr.args[1], definition_.operands),
                                         TypeOf(*expr.args[2], definition_.operands));
  Value condition = s_.Convert(Emit(*expr.args[0]), ElementType::kBool).value;
  const auto side = [&](bool taken) {
    Enter(placement_->Side(expr, taken));
    return Emit(*expr.args[taken ? 1 : 2]);
  };
  return Branch(condition, type, [&] { return side(true); }, [&] { return side(false); });
}

Typed KernelBuilder::Branch(Value condition, ElementType type, const std::function<Typed()>& then,
                            const std::function<Typed()>& otherwise) {
  auto side = [&](const std::function<Typed()>& make) {
    return [&, make](mlir::OpBuilder&, mlir::Location) {
      Value value = Scoped([&] { return s_.Convert(make(), type).value; });
      b_.create<scf::YieldOp>(loc(), value);
    };
  };
  auto branch = b_.create<scf::IfOp>(loc(), condition, side(then), side(otherwise));
  return {branch.getResult(0), type};
}

Typed KernelBuilder::Read(const Expr& expr) {
  if (IsElement(expr.operand)) {
    const std::vector<Typed>& elements = writers_[expr.operand]->elements_;
    return elements[elements.size() == 1 ? 0 : std::max(lane_, 0)];
  }
  const int access = reads_.at(&expr);
  const Value inside = Inside(expr);
  if (!inside) {
    const std::string key = RowKey(TensorOf(expr.operand), accesses_[access].position);
    if (key.empty()) return Load(access);
    const auto [known, is_new] = function_.row().try_emplace(key);
    if (is_new) known->second = Load(access);
    return known->second;
  }
  const auto outside = [&] {
    Enter(placement_->Side(expr, false));
    return Emit(*expr.args[0]);
  };
  return Branch(
      inside, definition_.operands[expr.operand].type, [&] { return Load(access); }, outside);
}

// Whether what is known of the arguments shows that a read is inside of its buffer everywhere.
bool KernelBuilder::MayReadAnywhere(const Expr& read) const {
  if (!read.args.empty() || threads_ == nullptr) return false;
  return IsElement(read.operand) || accesses_[reads_.at(&read)].strides.inside;
}

// Whether the loops see to it that a read is inside of its operand.
bool KernelBuilder::IsInside(const Expr& read) const {
  return read.args.empty() ||
         std::find(plan_.inside.begin(), plan_.inside.end(), &read) != plan_.inside.end();
}

// Whether a read is inside of its operand at the point at hand; null where it always is.
Value KernelBuilder::Inside(const Expr& read) {
  Value inside;
  const TensorType& operand = definition_.operands[read.operand];
  for (size_t d = 0; !IsInside(read) && d < read.position.size(); ++d) {
    const Interval range = Range(read.position[d], whole_);
    if (Interval{0, operand.dims[d]}.Contains(range)) continue;
    Value in =
        Compare(arith::CmpIPredicate::ult, AffineValue(read.position[d]), s_.Int(operand.dims[d]));
    inside = inside ? s_.And(inside, in) : in;
  }
  return inside;
}

}  // namespace yuba::kernels
