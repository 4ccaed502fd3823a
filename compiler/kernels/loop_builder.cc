#include "compiler/kernels/loop_builder.h"

#include <algorithm>
#include <functional>
#include <map>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "compiler/kernels/scalars.h"
#include "opsemantics/base/check.h"
#include "opsemantics/boxes.h"

namespace yuba {
namespace {

using mlir::Value;
using Values = llvm::SmallVector<Value>;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

// Accumulators of a row that are wider than the result live on the stack, this many at a time.
constexpr int64_t kRowTile = 512;

// Elements of one buffer at affine positions. The offset is kept up to date loop by loop.
struct Access {
  int buffer = 0;
  std::vector<Affine> position;       // solved indices replaced
  std::vector<Value> coefficients;    // for each index: elements that one step moves by, or null
  Value offset;                       // with the indices known so far
};

class KernelBuilder {
 public:
  KernelBuilder(mlir::ModuleOp module, const std::string& symbol, const Definition& definition,
                const LoopPlan& plan, Arithmetic arithmetic, bool cuda)
      : b_(module.getContext()), s_(b_, module, arithmetic, cuda), module_(module),
        symbol_(symbol), definition_(definition), plan_(plan), cuda_(cuda),
        pointer_(LLVM::LLVMPointerType::get(module.getContext(), cuda ? 1 : 0)),
        values_(definition.indices.size()), whole_(WholeRanges(definition)) {}

  void Build() {
    LLVM::LLVMFuncOp loops = DeclareLoops();
    BuildEntry(loops);
    mlir::Block* block = loops.addEntryBlock(b_);
    b_.setInsertionPointToStart(block);
    for (mlir::BlockArgument argument : block->getArguments()) pointers_.push_back(argument);
    arguments_ = pointers_.back();
    LoadRanges();
    AddAccesses();
    accumulator_type_ = definition_.reducer == Reducer::kArgMax ||
                                definition_.reducer == Reducer::kArgMin
                            ? definition_.result.type
                            : AccumulatorType(definition_.result.type);
    tiled_ = plan_.mode == LoopPlan::kRow &&
             s_.StoredType(accumulator_type_) != s_.StoredType(definition_.result.type);
    if (tiled_) AllocateTile();
    BuildLoops();
    b_.create<LLVM::ReturnOp>(loc(), mlir::ValueRange());
  }

 private:
  using Inner = std::function<Values(Values)>;
  using Action = std::function<void()>;

  mlir::Location loc() { return b_.getUnknownLoc(); }
  int ResultBuffer() const { return static_cast<int>(definition_.operands.size()); }
  const TensorType& Buffer(int buffer) const {
    return buffer == ResultBuffer() ? definition_.result : definition_.operands[buffer];
  }
  bool IsArg() const {
    return definition_.reducer == Reducer::kArgMax || definition_.reducer == Reducer::kArgMin;
  }

  // ---- functions and arguments ----

  LLVM::LLVMFuncOp DeclareLoops() {
    b_.setInsertionPointToEnd(module_.getBody());
    std::vector<mlir::Type> inputs(definition_.operands.size() + 2, pointer_);
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()), inputs);
    auto function = b_.create<LLVM::LLVMFuncOp>(loc(), symbol_ + "_loops", type,
                                                LLVM::Linkage::Internal);
    for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
      function.setArgAttr(i, "llvm.noalias", b_.getUnitAttr());
      if (i != ResultBuffer()) function.setArgAttr(i, "llvm.readonly", b_.getUnitAttr());
    }
    return function;
  }

  // Pointers that are loaded cannot be said not to alias; parameters can: hence two functions.
  void BuildEntry(LLVM::LLVMFuncOp loops) {
    auto generic = LLVM::LLVMPointerType::get(b_.getContext());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b_.getContext()),
                                            {generic, generic});
    b_.setInsertionPointToEnd(module_.getBody());
    auto entry = b_.create<LLVM::LLVMFuncOp>(loc(), symbol_, type);
    mlir::Block* block = entry.addEntryBlock(b_);
    b_.setInsertionPointToStart(block);
    auto global = [&](Value pointer) -> Value {
      return cuda_ ? b_.create<LLVM::AddrSpaceCastOp>(loc(), pointer_, pointer) : pointer;
    };
    Values pointers;
    Value buffers = global(block->getArgument(0));
    for (int i = 0; i <= ResultBuffer(); ++i) {
      Value at = b_.create<LLVM::GEPOp>(loc(), pointer_, generic, buffers,
                                        llvm::ArrayRef<LLVM::GEPArg>{i});
      pointers.push_back(global(b_.create<LLVM::LoadOp>(loc(), generic, at, 8)));
    }
    pointers.push_back(global(block->getArgument(1)));
    b_.create<LLVM::CallOp>(loc(), loops, pointers);
    b_.create<LLVM::ReturnOp>(loc(), mlir::ValueRange());
  }

  Value Argument(int slot) {
    auto [at, inserted] = loaded_.try_emplace(slot);
    if (inserted) {
      mlir::OpBuilder::InsertionGuard guard(b_);
      mlir::Block* block = arguments_.getParentBlock();
      if (last_load_ == nullptr) b_.setInsertionPointToStart(block);
      else b_.setInsertionPointAfter(last_load_);
      Value address = b_.create<LLVM::GEPOp>(loc(), pointer_, b_.getI64Type(), arguments_,
                                             llvm::ArrayRef<LLVM::GEPArg>{slot});
      at->second = b_.create<LLVM::LoadOp>(loc(), b_.getI64Type(), address, 8);
      last_load_ = at->second.getDefiningOp();
    }
    return at->second;
  }

  // The argument (origin, extent) pairs of a buffer start here.
  int BoxArgument(int buffer) const {
    int slot = 2 * static_cast<int>(definition_.indices.size());
    for (int i = 0; i < buffer; ++i) slot += 2 * static_cast<int>(Buffer(i).dims.size());
    return slot;
  }

  void LoadRanges() {
    for (int i = 0; i < static_cast<int>(definition_.indices.size()); ++i) {
      begin_.push_back(Argument(BeginArgument(i)));
      end_.push_back(Argument(EndArgument(i)));
    }
    // A part of a reduction may have no terms for some of its piece: the result's buffer lacks them.
    int slot = BoxArgument(static_cast<int>(definition_.operands.size()));
    for (const Affine& left : definition_.left) {
      if (const int index = left.BareIndex(); index >= 0) {
        begin_[index] = s_.Max(begin_[index], Argument(slot));
        end_[index] = s_.Min(end_[index], s_.Add(Argument(slot), Argument(slot + 1)));
      }
      slot += 2;
    }
  }

  // ---- accesses ----

  void AddAccesses() {
    auto add = [this](const Expr& expr) {
      if (expr.kind == Expr::kRead)
        reads_[&expr] = AddAccess(expr.operand, Substituted(expr.position));
    };
    Walk(definition_.body, add);
    for (const DataCondition& condition : definition_.data_where) Walk(condition.value, add);
    result_ = AddAccess(ResultBuffer(), Substituted(definition_.left));
    // Where output indices were solved, the identities are written along the indices themselves.
    whole_result_ = AddAccess(ResultBuffer(), definition_.left);
  }

  std::vector<Affine> Substituted(std::vector<Affine> position) const {
    for (Affine& at : position) at = Substitute(at, plan_.solved);
    return position;
  }

  int AddAccess(int buffer, std::vector<Affine> position) {
    for (size_t i = 0; i < accesses_.size(); ++i)
      if (accesses_[i].buffer == buffer && accesses_[i].position == position)
        return static_cast<int>(i);
    Access access;
    access.buffer = buffer;
    access.coefficients.resize(definition_.indices.size());
    access.offset = s_.Int(0);
    Value stride = s_.Int(1);
    for (int d = static_cast<int>(position.size()) - 1; d >= 0; --d) {
      const int slot = BoxArgument(buffer) + 2 * d;
      Value from_origin = s_.Sub(s_.Int(position[d].constant), Argument(slot));
      access.offset = s_.Add(access.offset, s_.Mul(from_origin, stride));
      for (const auto& [index, coefficient] : position[d].terms) {
        Value step = s_.Mul(stride, s_.Int(coefficient));
        Value& sum = access.coefficients[index];
        sum = sum ? s_.Add(sum, step) : step;
      }
      if (d > 0) stride = s_.Mul(stride, Argument(slot + 1));
    }
    access.position = std::move(position);
    accesses_.push_back(std::move(access));
    return static_cast<int>(accesses_.size()) - 1;
  }

  Value Address(int access) {
    const Access& a = accesses_[access];
    mlir::Type element = s_.StoredType(Buffer(a.buffer).type);
    return b_.create<LLVM::GEPOp>(loc(), pointer_, element, pointers_[a.buffer],
                                  mlir::ValueRange{a.offset}, /*inbounds=*/true);
  }

  Typed Load(int access) {
    const ElementType type = Buffer(accesses_[access].buffer).type;
    mlir::Type stored = s_.StoredType(type);
    auto load = b_.create<LLVM::LoadOp>(loc(), stored, Address(access), Alignment(stored));
    if (access == result_) SetLane(load);
    return s_.FromStored(load, type);
  }

  void Store(Typed value, int access) {
    Value stored = s_.ToStored(value, definition_.result.type);
    SetLane(b_.create<LLVM::StoreOp>(loc(), stored, Address(access), Alignment(stored.getType())));
  }

  static unsigned Alignment(mlir::Type type) { return type.getIntOrFloatBitWidth() / 8; }

  // ---- the state of the loops ----

  // Runs `action` with everything it makes known forgotten afterwards.
  template <typename F>
  auto Scoped(F action) {
    const std::vector<Value> values = values_;
    std::vector<Value> offsets;
    for (const Access& access : accesses_) offsets.push_back(access.offset);
    const auto memo = memo_;
    const std::vector<Value> begin = begin_, end = end_;
    auto restore = [&] {
      values_ = values;
      memo_ = memo;
      begin_ = begin;
      end_ = end;
      for (size_t i = 0; i < accesses_.size(); ++i) accesses_[i].offset = offsets[i];
    };
    if constexpr (std::is_void_v<decltype(action())>) {
      action();
      restore();
    } else {
      auto result = action();
      restore();
      return result;
    }
  }

  void Bind(int index, Value value) {
    values_[index] = value;
    for (Access& access : accesses_)
      if (access.coefficients[index])
        access.offset = s_.Add(access.offset, s_.Mul(access.coefficients[index], value));
  }

  Value AffineValue(const Affine& affine) {
    Value sum = s_.Int(affine.constant);
    for (const auto& [index, coefficient] : Substitute(affine, plan_.solved).terms) {
      YUBA_CHECK(values_[index]) << definition_.name << ": index " << index << " is not known";
      sum = s_.Add(sum, s_.Mul(values_[index], s_.Int(coefficient)));
    }
    const Affine substituted = Substitute(affine, plan_.solved);
    if (substituted.constant != affine.constant)
      sum = s_.Add(sum, s_.Int(substituted.constant - affine.constant));
    return sum;
  }

  // ---- control flow ----

  Values For(Value begin, Value end, Value step, Values carried,
             const std::function<Values(Value, Values)>& body) {
    auto loop = b_.create<scf::ForOp>(
        loc(), begin, end, step, carried,
        [&](mlir::OpBuilder&, mlir::Location, Value index, mlir::ValueRange values) {
          Values out = Scoped([&] { return body(index, Values(values.begin(), values.end())); });
          b_.create<scf::YieldOp>(loc(), out);
        });
    return Values(loop.getResults().begin(), loop.getResults().end());
  }

  // A loop over one index within the bounds [begin, end) that are given.
  Values LoopOver(int index, Value begin, Value end, Values carried, const Inner& inner) {
    return For(begin, end, s_.Int(1), std::move(carried), [&](Value value, Values values) {
      Bind(index, value);
      return inner(std::move(values));
    });
  }

  // `inner` where `condition` holds, else the carried values as they are.
  Values Where(Value condition, Values carried, const Inner& inner) {
    auto then = [&](mlir::OpBuilder&, mlir::Location) {
      b_.create<scf::YieldOp>(loc(), Scoped([&] { return inner(carried); }));
    };
    if (carried.empty()) {
      b_.create<scf::IfOp>(loc(), condition, then);
      return carried;
    }
    auto branch = b_.create<scf::IfOp>(loc(), condition, then,
                                       [&](mlir::OpBuilder&, mlir::Location) {
                                         b_.create<scf::YieldOp>(loc(), carried);
                                       });
    return Values(branch.getResults().begin(), branch.getResults().end());
  }

  void OverIndices(const std::vector<int>& indices, size_t at, const Action& action) {
    if (at == indices.size()) return action();
    const int index = indices[at];
    const Action next = [&] { OverIndices(indices, at + 1, action); };
    if (index == plan_.block) return OverBlocks(next);
    LoopOver(index, begin_[index], end_[index], {}, [&](Values) {
      next();
      return Values();
    });
  }

  // Each thread its share of the points, the last index fastest so that threads read side by side.
  void OverThreads(const std::vector<int>& indices, const Action& action) {
    auto special = [&](const char* name) -> Value {
      Value value = b_.create<LLVM::CallIntrinsicOp>(
                          loc(), b_.getI32Type(),
                          b_.getStringAttr(std::string("llvm.nvvm.read.ptx.sreg.") + name),
                          mlir::ValueRange(), LLVM::FastmathFlagsAttr())
                        .getResult(0);
      return b_.create<arith::ExtUIOp>(loc(), b_.getI64Type(), value);
    };
    Value width = special("ntid.x");
    Value thread = s_.Add(s_.Mul(special("ctaid.x"), width), special("tid.x"));
    Value threads = s_.Mul(special("nctaid.x"), width);
    Value points = s_.Int(1);
    Values sizes;
    for (int index : indices) {
      sizes.push_back(s_.Max(s_.Sub(end_[index], begin_[index]), s_.Int(0)));
      points = s_.Mul(points, sizes.back());
    }
    For(thread, points, threads, {}, [&](Value point, Values) {
      for (int k = static_cast<int>(indices.size()) - 1; k >= 0; --k) {
        Value position = point;
        if (k > 0) {
          position = b_.create<arith::RemUIOp>(loc(), point, sizes[k]);
          point = b_.create<arith::DivUIOp>(loc(), point, sizes[k]);
        }
        Bind(indices[k], s_.Add(begin_[indices[k]], position));
      }
      action();
      return Values();
    });
  }

  void OverOuter(const Action& action) {
    if (cuda_) OverThreads(plan_.outer, action);
    else OverIndices(plan_.outer, 0, action);
  }

  // ---- lanes: rows side by side ----

  // Runs `action` for each row of the block of rows at hand.
  void ForLanes(const Action& action) {
    if (lanes_ == 0) return action();
    for (int lane = 0; lane < lanes_; ++lane) {
      Scoped([&] {
        lane_ = lane;
        Bind(plan_.block, s_.Add(block_base_, s_.Int(lane)));
        action();
      });
    }
    lane_ = -1;
  }

  // Says that this access to the result overlaps no access of another lane.
  template <typename Op>
  void SetLane(Op op) {
    if (lane_ < 0 || lanes_ < 2) return;
    mlir::MLIRContext* context = b_.getContext();
    if (scopes_.empty()) {
      auto domain = LLVM::AliasScopeDomainAttr::get(
          context, mlir::DistinctAttr::create(b_.getUnitAttr()), mlir::StringAttr());
      for (int i = 0; i < kRowBlock; ++i)
        scopes_.push_back(LLVM::AliasScopeAttr::get(context, mlir::DistinctAttr::create(b_.getUnitAttr()),
                                                    domain, mlir::StringAttr()));
    }
    std::vector<mlir::Attribute> others = scopes_;
    others.erase(others.begin() + lane_);
    op.setAliasScopesAttr(mlir::ArrayAttr::get(context, {scopes_[lane_]}));
    op.setNoaliasScopesAttr(mlir::ArrayAttr::get(context, others));
  }

  // Blocks of rows, then the rows that are left, one by one.
  void OverBlocks(const Action& action) {
    const int index = plan_.block;
    Value blocks = s_.FloorDiv(s_.Max(s_.Sub(end_[index], begin_[index]), s_.Int(0)), kRowBlock);
    Value middle = s_.Add(begin_[index], s_.Mul(blocks, s_.Int(kRowBlock)));
    For(begin_[index], middle, s_.Int(kRowBlock), {}, [&](Value base, Values) {
      block_base_ = base;
      lanes_ = kRowBlock;
      action();
      lanes_ = 0;
      return Values();
    });
    LoopOver(index, middle, end_[index], {}, [&](Values) {
      action();
      return Values();
    });
  }

  // ---- bounds from constraints ----

  // The least (or greatest) value of the terms of a bound other than `index`.
  Value Rest(const Bound& bound, int index, bool least) {
    Value sum = s_.Int(bound.expression.constant);
    for (const auto& [slot, coefficient] : bound.arguments)
      sum = s_.Add(sum, s_.Mul(Argument(slot), s_.Int(coefficient)));
    for (const auto& [other, coefficient] : bound.expression.terms) {
      if (other == index) continue;
      Value value = values_[other];
      if (!value && (coefficient > 0) == least) value = begin_[other];
      if (!value) value = s_.Sub(end_[other], s_.Int(1));
      sum = s_.Add(sum, s_.Mul(value, s_.Int(coefficient)));
    }
    return sum;
  }

  // What the bounds leave of the range of a loop's index, whatever the inner loops' indices are; with
  // those known it is exact, also for equalities: then at most one point is left.
  std::pair<Value, Value> Narrowed(int index) {
    Value begin = begin_[index], end = end_[index];
    for (const Bound& bound : plan_.bounds) {
      const int64_t c = Coefficient(bound.expression, index);
      if (c == 0) continue;
      // c * index <= -rest, and for equalities >= as well.
      Value most = s_.Sub(s_.Int(0), Rest(bound, index, true));
      if (c > 0) end = s_.Min(end, s_.Add(s_.FloorDiv(most, c), s_.Int(1)));
      else begin = s_.Max(begin, s_.CeilDiv(s_.Sub(s_.Int(0), most), -c));
      if (!bound.equality) continue;
      Value least = s_.Sub(s_.Int(0), Rest(bound, index, false));
      if (c > 0) begin = s_.Max(begin, s_.CeilDiv(least, c));
      else end = s_.Min(end, s_.Add(s_.FloorDiv(s_.Sub(s_.Int(0), least), -c), s_.Int(1)));
    }
    return {begin, end};
  }

  Value Compare(arith::CmpIPredicate order, Value a, Value b) {
    return b_.create<arith::CmpIOp>(loc(), order, a, b);
  }

  // Whether a bound all of whose indices are known holds.
  Value Holds(const Bound& bound) {
    Value sum = Rest(bound, -1, true);
    return Compare(bound.equality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle, sum,
                   s_.Int(0));
  }

  // Bounds that no loop inside enforces: those whose last index is known at step `step` (-1: before
  // the first) by other means than a loop.
  std::vector<const Bound*> BoundsCheckedAfter(int step) const {
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

  Values WhereBoundsHold(int step, Values carried, const Inner& inner) {
    Value all;
    for (const Bound* bound : BoundsCheckedAfter(step)) {
      Value holds = Holds(*bound);
      all = all ? s_.And(all, holds) : holds;
    }
    return all ? Where(all, std::move(carried), inner) : inner(std::move(carried));
  }

  // ---- steps inside of the accumulator ----

  Values Steps(int at, Values carried) {
    if (at == static_cast<int>(plan_.steps.size())) return Term(std::move(carried));
    const LoopStep& step = plan_.steps[at];
    const Inner next = [&](Values values) { return Steps(at + 1, std::move(values)); };
    switch (step.kind) {
      case LoopStep::kLoop: {
        const auto [begin, end] = Narrowed(step.index);
        return LoopOver(step.index, begin, end, std::move(carried), next);
      }
      case LoopStep::kLookup: return Lookup(at, std::move(carried), next);
      case LoopStep::kGuard: {
        Value holds = DataHolds(definition_.data_where[step.condition]);
        return Where(holds, std::move(carried), next);
      }
    }
    return carried;
  }

  // coefficient * index + rest == value.
  Values Lookup(int at, Values carried, const Inner& next) {
    const int index = plan_.steps[at].index;
    const DataCondition& condition = definition_.data_where[plan_.steps[at].condition];
    const int64_t coefficient = Coefficient(condition.index, index);
    const Affine rest = condition.index - IndexAffine(index) * coefficient;
    Value value = s_.Convert(Emit(*condition.value), ElementType::kI64).value;
    value = s_.Mul(s_.Sub(value, AffineValue(rest)), s_.Int(coefficient));
    Value inside = s_.And(Compare(arith::CmpIPredicate::sle, begin_[index], value),
                          Compare(arith::CmpIPredicate::slt, value, end_[index]));
    return Where(inside, std::move(carried), [&](Values values) {
      Bind(index, value);
      return WhereBoundsHold(at, std::move(values), next);
    });
  }

  Value DataHolds(const DataCondition& condition) {
    Value index = AffineValue(condition.index);
    Value value = s_.Convert(Emit(*condition.value), ElementType::kI64).value;
    const auto order = condition.compare == Function::kEq   ? arith::CmpIPredicate::eq
                       : condition.compare == Function::kLt ? arith::CmpIPredicate::slt
                                                            : arith::CmpIPredicate::sle;
    if (condition.reversed) std::swap(index, value);
    return Compare(order, index, value);
  }

  // ---- accumulators ----

  Values Term(Values carried) {
    if (plan_.mode != LoopPlan::kRegister) {
      std::vector<Typed> values;  // of all lanes first, so that what they share is read once
      ForLanes([&] { values.push_back(s_.Convert(Emit(*definition_.body), accumulator_type_)); });
      size_t next = 0;
      ForLanes([&] { IntoMemory(values[next++]); });
      return carried;
    }
    Typed value = Emit(*definition_.body);
    if (IsArg()) return Better(value, std::move(carried));
    value = s_.Convert(value, accumulator_type_);
    Typed sum = {carried[0], accumulator_type_};
    return {s_.Combine(definition_.reducer, sum, value).value};
  }

  void IntoMemory(Typed value) {
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

  // carried: the best value, and its position among the reduction indices, -1 before the first.
  Values Better(Typed value, Values carried) {
    Typed best = {carried[0], value.type};
    const bool max = definition_.reducer == Reducer::kArgMax;
    Value better = max ? s_.Less(best, value) : s_.Less(value, best);
    Value none = Compare(arith::CmpIPredicate::slt, carried[1], s_.Int(0));
    better = b_.create<arith::OrIOp>(loc(), better, none);
    Value position = s_.Int(0);
    for (size_t i = 0; i < definition_.indices.size(); ++i) {
      if (!definition_.indices[i].reduction) continue;
      position = s_.Add(s_.Mul(position, s_.Int(definition_.indices[i].extent)), values_[i]);
    }
    return {b_.create<arith::SelectOp>(loc(), better, value.value, best.value),
            b_.create<arith::SelectOp>(loc(), better, position, carried[1])};
  }

  Typed IdentityValue() { return s_.Identity(definition_.reducer, accumulator_type_); }

  void BuildLoops() {
    switch (plan_.mode) {
      case LoopPlan::kMap:
        OverOuter([&] { Store(Emit(*definition_.body), result_); });
        break;
      case LoopPlan::kRegister: OverOuter([&] { InRegisters(); }); break;
      case LoopPlan::kRow:
        OverOuter([&] {
          if (tiled_) InTiles();
          else InRow();
        });
        break;
      case LoopPlan::kScatter: {
        std::vector<int> inner;  // output indices
        for (int i = 0; i < static_cast<int>(definition_.indices.size()); ++i)
          if (!definition_.indices[i].reduction &&
              std::find(plan_.outer.begin(), plan_.outer.end(), i) == plan_.outer.end())
            inner.push_back(i);
        OverOuter([&] {
          OverIndices(inner, 0, [&] { Store(IdentityValue(), whole_result_); });
          Accumulate({});
        });
        break;
      }
    }
  }

  Values Accumulate(Values carried) {
    return WhereBoundsHold(-1, std::move(carried),
                           [&](Values values) { return Steps(0, std::move(values)); });
  }

  void InRegisters() {
    if (!IsArg()) {
      Values sum = Accumulate({IdentityValue().value});
      return Store({sum[0], accumulator_type_}, result_);
    }
    const ElementType type = TypeOf(*definition_.body, definition_.operands);
    const Reducer order =
        definition_.reducer == Reducer::kArgMax ? Reducer::kMax : Reducer::kMin;
    Values best = Accumulate({s_.Identity(order, type).value, s_.Int(-1)});
    Store({s_.Max(best[1], s_.Int(0)), ElementType::kI64}, result_);
  }

  void InRow() {
    const int row = plan_.row;
    ForLanes([&] {
      LoopOver(row, begin_[row], end_[row], {}, [&](Values) {
        Store(IdentityValue(), result_);
        return Values();
      });
    });
    Accumulate({});
  }

  void InTiles() {
    const int row = plan_.row;
    For(begin_[row], end_[row], s_.Int(kRowTile), {}, [&](Value first, Values) {
      end_[row] = s_.Min(end_[row], s_.Add(first, s_.Int(kRowTile)));
      begin_[row] = first;
      auto over_tile = [&](const Action& action) {
        LoopOver(row, begin_[row], end_[row], {}, [&](Values) {
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

  void AllocateTile() {
    tile_ = b_.create<LLVM::AllocaOp>(loc(), LLVM::LLVMPointerType::get(b_.getContext()),
                                      s_.StoredType(accumulator_type_), s_.Int(kRowTile * kRowBlock));
  }

  Value TileAddress() {
    Value offset = s_.Sub(values_[plan_.row], begin_[plan_.row]);
    if (lane_ > 0) offset = s_.Add(offset, s_.Int(lane_ * kRowTile));
    return b_.create<LLVM::GEPOp>(loc(), tile_.getType(), s_.StoredType(accumulator_type_), tile_,
                                  mlir::ValueRange{offset}, /*inbounds=*/true);
  }

  Typed LoadTile() {
    mlir::Type type = s_.StoredType(accumulator_type_);
    Value stored = b_.create<LLVM::LoadOp>(loc(), type, TileAddress(), Alignment(type));
    return s_.FromStored(stored, accumulator_type_);
  }

  void StoreTile(Typed value) {
    Value stored = s_.ToStored(value, accumulator_type_);
    b_.create<LLVM::StoreOp>(loc(), stored, TileAddress(), Alignment(stored.getType()));
  }

  // ---- bodies ----

  Typed Emit(const Expr& expr) {
    auto known = memo_.find(&expr);
    if (known != memo_.end()) return known->second;
    Typed value = EmitNew(expr);
    memo_[&expr] = value;
    return value;
  }

  Typed EmitNew(const Expr& expr) {
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
    return s_.Call(expr.function, args);
  }

  // A cast rounds: values of small floats are kept in wider ones otherwise.
  Typed Cast(Typed value, ElementType type) {
    if (type == value.type) return value;
    Value stored = s_.ToStored(value, type);
    return s_.FromStored(stored, type);
  }

  // The untaken side of a select on indices may be outside of the buffers; one on data may not.
  static bool NeedsBranch(const Expr& expr) {
    bool indices = false, reads = false;
    auto on_indices = [&](const Expr& e) { indices = indices || e.kind == Expr::kIndex; };
    auto has_reads = [&](const Expr& e) { reads = reads || e.kind == Expr::kRead; };
    Walk(expr.args[0], on_indices);
    Walk(expr.args[1], has_reads);
    Walk(expr.args[2], has_reads);
    return indices && reads;
  }

  Typed Select(const Expr& expr) {
    const ElementType type = s_.CommonType(TypeOf(*expr.args[1], definition_.operands),
                                           TypeOf(*expr.args[2], definition_.operands));
    Value condition = s_.Convert(Emit(*expr.args[0]), ElementType::kBool).value;
    return Branch(condition, type, [&] { return Emit(*expr.args[1]); },
                  [&] { return Emit(*expr.args[2]); });
  }

  Typed Branch(Value condition, ElementType type, const std::function<Typed()>& then,
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

  Typed Read(const Expr& expr) {
    const int access = reads_.at(&expr);
    const bool inside = expr.args.empty() || std::find(plan_.inside.begin(), plan_.inside.end(),
                                                       &expr) != plan_.inside.end();
    Value guard;
    const TensorType& operand = definition_.operands[expr.operand];
    for (size_t d = 0; !inside && d < expr.position.size(); ++d) {
      const Interval range = Range(expr.position[d], whole_);
      if (Interval{0, operand.dims[d]}.Contains(range)) continue;
      Value in = Compare(arith::CmpIPredicate::ult, AffineValue(expr.position[d]),
                         s_.Int(operand.dims[d]));
      guard = guard ? s_.And(guard, in) : in;
    }
    if (!guard) return Load(access);
    return Branch(guard, operand.type, [&] { return Load(access); },
                  [&] { return Emit(*expr.args[0]); });
  }

  mlir::OpBuilder b_;
  ScalarBuilder s_;
  mlir::ModuleOp module_;
  const std::string symbol_;
  const Definition& definition_;
  const LoopPlan& plan_;
  const bool cuda_;
  LLVM::LLVMPointerType pointer_;

  std::vector<Value> pointers_;  // of the operands, the result, the arguments
  Value arguments_;
  std::map<int, Value> loaded_;
  mlir::Operation* last_load_ = nullptr;

  std::vector<Access> accesses_;
  std::map<const Expr*, int> reads_;
  int result_ = 0, whole_result_ = 0;

  std::vector<Value> values_;       // of the indices that are known
  std::vector<Value> begin_, end_;  // of the part of each index
  std::map<const Expr*, Typed> memo_;
  const std::vector<Interval> whole_;

  int lanes_ = 0, lane_ = -1;  // rows of the block at hand (0: no blocks); the one at hand
  Value block_base_;           // the first row
  std::vector<mlir::Attribute> scopes_;

  ElementType accumulator_type_ = ElementType::kF32;
  bool tiled_ = false;
  Value tile_;
};

}  // namespace

void BuildKernel(mlir::ModuleOp module, const std::string& symbol, const Definition& definition,
                 const LoopPlan& plan, Arithmetic arithmetic, bool cuda) {
  KernelBuilder(module, symbol, definition, plan, arithmetic, cuda).Build();
}

}  // namespace yuba
