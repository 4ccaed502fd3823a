// What a group of a GPU's threads computes together: a row, or several columns, and how its threads
// combine what each has accumulated.
#include <algorithm>
#include <string>

#include "compiler/kernels/kernel_builder.h"

namespace yuba::kernels {
namespace {

constexpr unsigned kShared = 3;  // the address space of a block's shared memory

}  // namespace

// The definition at a point that a group computes together.
void KernelBuilder::ByGroup() {
  if (NeedsBarrier()) GroupBarrier();
  const bool shared = !threads_->inner[number_].loops.empty();
  const int lanes = threads_->inner[number_].lanes;
  if (plan_.mode == LoopPlan::kMap) {
    if (shared) {
      OverTurns({}, [&](const Values&) {
        MapElements();
        return Values();
      });
      return;
    }
    const Typed value = EmitRoot(definition_.body);
    RoundHere(value.value);
    return StoreByFirst({value, Value()});
  }
  if (shared && static_cast<int>(plan_.outer.size()) > shared_ && shared_ > 0) {
    OverTurns({}, [&](const Values&) {
      const Value stored = Kept(InRegister());
      WhereActive([&] { Write(stored, result_); });
      return Values();
    });
    return;
  }
  if (!shared) return StoreByFirst({InRegister(), Value()});  // every thread computes all of it
  Values none = CarriedOf(NothingYet());
  if (!IsArg()) none.append(lanes - 1, none[0]);
  shares_terms_ = true;
  sums_ = AccumulatedOf(OverTurns(none, [&](Values values) { return Term(std::move(values)); }));
  shares_terms_ = false;
  StoreByFirst(OverGroup(OverLanes()));
}

// Of this definition and the others that share its loops, in their order.
std::vector<KernelBuilder*> KernelBuilder::All() {
  std::vector<KernelBuilder*> all = {this};
  all.insert(all.end(), others_.begin(), others_.end());
  return all;
}

bool KernelBuilder::IsSum() const {
  const std::vector<int>& sums = threads_->sums;
  return std::find(sums.begin(), sums.end(), number_) != sums.end();
}

// The sums that a group adds up in the same turns, at a point or in a part of it: each turn is that
// of all, so that what several read is read once. What is computed of columns that are whole
// follows.
void KernelBuilder::SumsByGroup() {
  std::vector<KernelBuilder*> sums;
  Values none;
  for (KernelBuilder* each : All()) {
    if (!each->IsSum()) continue;
    sums.push_back(each);
    const int sides = threads_->columns ? threads_->lanes : threads_->inner[each->number_].lanes;
    const Values nothing = each->CarriedOf(each->NothingYet());
    none.append(nothing);
    if (!each->IsArg()) none.append(sides - 1, nothing[0]);
    each->shares_terms_ = true;
  }
  const size_t of_each = none.size() / sums.size();
  const auto own = [&](const Values& values, size_t number) {
    const auto begin = values.begin() + number * of_each;
    return Values(begin, begin + of_each);
  };
  const Values carried = OverTurns(none, sums, [&](size_t number, const Values& values) {
    return sums[number]->Term(own(values, number));
  });
  for (size_t number = 0; number < sums.size(); ++number) {
    sums[number]->shares_terms_ = false;
    sums[number]->sums_ = sums[number]->AccumulatedOf(own(carried, number));
  }
  if (threads_->columns) return StoreColumns();
  for (KernelBuilder* sum : sums) sum->StoreByFirst(sum->OverGroup(sum->OverLanes()));
}

// What the thread has accumulated of all its lanes.
Accumulated KernelBuilder::OverLanes() {
  Accumulated sum = sums_[0];
  for (size_t lane = 1; lane < sums_.size(); ++lane) sum = Combined(sum, sums_[lane]);
  return sum;
}

// All threads of the group have the value, one writes it.
void KernelBuilder::StoreByFirst(const Accumulated& sum) {
  const Value first = Compare(arith::CmpIPredicate::eq, in_group_, s_.Int(0));
  if (threads_->parts > 1) {
    Where(first, {}, [&](const Values&) {
      StoreAt(Parts(), PartNumber(part_, 0), sum);
      return Values();
    });
    return;
  }
  const Value stored = Kept(Finished(sum));
  Where(first, {}, [&](const Values&) {
    Write(stored, result_);
    return Values();
  });
}

// What the threads of a group have accumulated of each lane's point, which its first thread
// combines in their order. It writes nothing before all threads have read what they read.
void KernelBuilder::StoreColumns() {
  const int group = threads_->group, groups = threads_->threads / group;
  const auto place = [&](int64_t lane, Value in_group) -> Value {
    const Value row = s_.Add(in_group, s_.Int(lane * group));
    return s_.Add(s_.Mul(row, s_.Int(groups)), in_block_);
  };
  for (KernelBuilder* each : All()) {
    if (!each->IsSum()) continue;
    each->columns_ = each->SharedMemory(static_cast<int>(each->sums_.size()) * threads_->threads);
    for (size_t lane = 0; lane < each->sums_.size(); ++lane)
      each->StoreAt(each->columns_, place(lane, in_group_), each->sums_[lane]);
  }
  GroupBarrier();
  const Value first = Compare(arith::CmpIPredicate::eq, in_group_, s_.Int(0));
  Where(s_.And(first, valid_), {}, [&](const Values&) {
    for (KernelBuilder* each : All()) {
      if (each->IsSum())
        each->StoreColumn(place);
      else if (threads_->parts == 1)
        each->MapElements();
    }
    return Values();
  });
}

// The sums of the first thread's columns, or its parts of them.
void KernelBuilder::StoreColumn(const std::function<Value(int64_t, Value)>& place) {
  int64_t lane = 0;
  ForLanes([&] {
    Accumulated sum;
    for (int i = 0; i < threads_->group; ++i) {
      const Accumulated part = LoadAt(columns_, place(lane, s_.Int(i)));
      sum = i == 0 ? part : Combined(sum, part);
    }
    if (threads_->parts > 1)
      StoreAt(Parts(), PartNumber(part_, lane), sum);
    else
      Store(Finished(sum), result_);
    ++lane;
  });
}

// The memory between two kernels: of argmax and argmin positions stand before values, and of
// several sums one's parts behind those of the other.
KernelBuilder::Memory KernelBuilder::Parts() {
  Memory memory = {function_.Scratch(), Value()};
  const Value count = s_.Mul(s_.Int(threads_->parts), Points());
  if (!IsArg()) {
    const auto& sums = threads_->sums;
    const auto before = std::find(sums.begin(), sums.end(), number_) - sums.begin();
    if (before == 0) return memory;
    memory.values =
        b_.create<LLVM::GEPOp>(loc(), pointer_, s_.StoredType(CombinedType()), memory.values,
                               mlir::ValueRange{s_.Mul(count, s_.Int(before))},
                               /*inbounds=*/true);
    return memory;
  }
  memory.positions = memory.values;
  memory.values = b_.create<LLVM::GEPOp>(loc(), pointer_, b_.getI64Type(), memory.positions,
                                         mlir::ValueRange{count}, /*inbounds=*/true);
  return memory;
}

// The number of a part of the sum of point `point_` + `lane` there.
Value KernelBuilder::PartNumber(Value part, int64_t lane) {
  return s_.Add(s_.Mul(part, Points()), s_.Add(point_, s_.Int(lane)));
}

// The second kernel of sums in parts. What is computed of the sums follows there.
void KernelBuilder::SumParts(const std::vector<KernelBuilder*>& others) {
  others_ = others;
  OverPoints([&] {
    for (KernelBuilder* each : All()) {
      if (each->IsSum())
        each->SumOwnParts();
      else
        each->BuildLoops();
    }
  });
}

void KernelBuilder::SumOwnParts() {
  const Memory parts = Parts();
  const Values sum = For(s_.Int(0), s_.Int(threads_->parts), s_.Int(1), CarriedOf(NothingYet()),
                         [&](Value part, const Values& carried) {
                           const Accumulated so_far = AccumulatedOf(carried)[0];
                           return CarriedOf(Combined(so_far, LoadAt(parts, PartNumber(part, 0))));
                         });
  Store(Finished(AccumulatedOf(sum)[0]), result_);
}

// In which threads exchange what they have accumulated.
ElementType KernelBuilder::CombinedType() const {
  return IsArg() ? AccumulatorType(TypeOf(*definition_.body, definition_.operands))
                 : accumulator_type_;
}

std::vector<Accumulated> KernelBuilder::AccumulatedOf(const Values& carried) {
  if (IsArg()) return {{{carried[0], CombinedType()}, carried[1]}};
  std::vector<Accumulated> sums;
  for (const Value sum : carried) sums.push_back({{sum, accumulator_type_}, Value()});
  return sums;
}

Values KernelBuilder::CarriedOf(const Accumulated& sum) const {
  Values carried = {sum.value.value};
  if (sum.position) carried.push_back(sum.position);
  return carried;
}

Accumulated KernelBuilder::NothingYet() {
  if (!IsArg()) return {IdentityValue(), Value()};
  const Reducer order = definition_.reducer == Reducer::kArgMax ? Reducer::kMax : Reducer::kMin;
  return {s_.Identity(order, CombinedType()), s_.Int(-1)};
}

// Of argmax and argmin the better value, of equal ones the first.
Accumulated KernelBuilder::Combined(const Accumulated& a, const Accumulated& b) {
  if (!IsArg()) return {s_.Combine(definition_.reducer, a.value, b.value), Value()};
  const bool max = definition_.reducer == Reducer::kArgMax;
  const auto better = [&](const Accumulated& one, const Accumulated& other) {
    return max ? s_.Less(other.value, one.value) : s_.Less(one.value, other.value);
  };
  const Value worse = b_.create<arith::XOrIOp>(loc(), better(a, b),
                                               b_.create<arith::ConstantIntOp>(loc(), true, 1));
  const Value first = s_.And(worse, Compare(arith::CmpIPredicate::ult, b.position, a.position));
  const Value takes = b_.create<arith::OrIOp>(loc(), better(b, a), first);
  const auto of = [&](Value from_b, Value from_a) -> Value {
    return b_.create<arith::SelectOp>(loc(), takes, from_b, from_a);
  };
  return {{of(b.value.value, a.value.value), a.value.type}, of(b.position, a.position)};
}

// The element of what all threads have accumulated.
Typed KernelBuilder::Finished(const Accumulated& sum) {
  if (!sum.position) return sum.value;
  return {s_.Max(sum.position, s_.Int(0)), ElementType::kI64};
}

// What all threads of the group have accumulated, in each of them. All must come here.
Accumulated KernelBuilder::OverGroup(Accumulated sum) {
  sum = OverWarp(sum);
  return threads_->group > function_.target().warp ? ThroughSharedMemory(sum) : sum;
}

Accumulated KernelBuilder::OverWarp(Accumulated sum) {
  for (int distance = function_.target().warp / 2; distance > 0; distance /= 2) {
    Accumulated other = {{FromOtherLane(sum.value.value, distance), sum.value.type}, Value()};
    if (sum.position) other.position = FromOtherLane(sum.position, distance);
    sum = Combined(sum, other);
  }
  return sum;
}

// The value that the thread has whose number in the warp differs in the bit `distance`.
Value KernelBuilder::FromOtherLane(Value value, int distance) {
  const mlir::Type type = value.getType(), word = b_.getI32Type();
  const unsigned bits = type.getIntOrFloatBitWidth();
  const mlir::Type whole = b_.getIntegerType(bits);
  const auto constant = [&](int64_t number) -> Value {
    return b_.create<arith::ConstantOp>(loc(), b_.getIntegerAttr(word, number));
  };
  const auto shuffled = [&](Value part) -> Value {
    const Values arguments = {constant(-1), part, constant(distance),
                              constant(function_.target().warp - 1)};
    return b_
        .create<LLVM::CallIntrinsicOp>(loc(), word,
                                       b_.getStringAttr("llvm.nvvm.shfl.sync.bfly.i32"), arguments,
                                       LLVM::FastmathFlagsAttr())
        .getResult(0);
  };
  if (type != whole) value = b_.create<arith::BitcastOp>(loc(), whole, value);
  if (bits < 32) {
    value = b_.create<arith::TruncIOp>(loc(), whole,
                                       shuffled(b_.create<arith::ExtUIOp>(loc(), word, value)));
  } else if (bits == 32) {
    value = shuffled(value);
  } else {
    Value half = b_.create<arith::ConstantOp>(loc(), b_.getIntegerAttr(whole, 32));
    Value low = shuffled(b_.create<arith::TruncIOp>(loc(), word, value));
    value = b_.create<arith::ShRUIOp>(loc(), value, half);
    Value high = shuffled(b_.create<arith::TruncIOp>(loc(), word, value));
    high = b_.create<arith::ShLIOp>(loc(), b_.create<arith::ExtUIOp>(loc(), whole, high), half);
    value = b_.create<arith::OrIOp>(loc(), high, b_.create<arith::ExtUIOp>(loc(), whole, low));
  }
  return type == whole ? value : b_.create<arith::BitcastOp>(loc(), type, value);
}

// What the warps of a block have accumulated, combined in their order by each thread. Each
// definition has memory of its own, so that no thread needs to wait before it writes there.
Accumulated KernelBuilder::ThroughSharedMemory(const Accumulated& sum) {
  const int warp = function_.target().warp, warps = threads_->group / warp;
  const Memory memory = SharedMemory(warps);
  const Value number = b_.create<arith::DivUIOp>(loc(), in_group_, s_.Int(warp));
  const Value in_warp = b_.create<arith::RemUIOp>(loc(), in_group_, s_.Int(warp));
  Where(Compare(arith::CmpIPredicate::eq, in_warp, s_.Int(0)), {}, [&](const Values&) {
    StoreAt(memory, number, sum);
    return Values();
  });
  GroupBarrier();
  Accumulated all;
  for (int i = 0; i < warps; ++i) {
    const Accumulated part = LoadAt(memory, s_.Int(i));
    all = i == 0 ? part : Combined(all, part);
  }
  return all;
}

// Memory of the block for so many accumulators of the definition.
KernelBuilder::Memory KernelBuilder::SharedMemory(int count) {
  Memory memory = {SharedArray("_shared", s_.StoredType(CombinedType()), count), Value()};
  if (IsArg()) memory.positions = SharedArray("_positions", b_.getI64Type(), count);
  return memory;
}

Value KernelBuilder::SharedArray(const char* name, mlir::Type type, int count) {
  const auto pointer = LLVM::LLVMPointerType::get(b_.getContext(), kShared);
  const std::string symbol = function_.kernel().symbol + name + std::to_string(number_);
  const auto array = LLVM::LLVMArrayType::get(type, count);
  {
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(function_.module().getBody());
    auto memory = b_.create<LLVM::GlobalOp>(loc(), array, /*isConstant=*/false,
                                            LLVM::Linkage::Internal, symbol, mlir::Attribute(),
                                            /*alignment=*/8, kShared);
    b_.createBlock(&memory.getInitializerRegion());
    b_.create<LLVM::ReturnOp>(loc(), Value(b_.create<LLVM::UndefOp>(loc(), array)));
  }
  return b_.create<LLVM::AddressOfOp>(loc(), pointer, symbol);
}

void KernelBuilder::StoreAt(const Memory& memory, Value number, const Accumulated& sum) {
  const auto store = [&](Value array, Value stored) {
    const Value address = b_.create<LLVM::GEPOp>(loc(), array.getType(), stored.getType(), array,
                                                 mlir::ValueRange{number}, /*inbounds=*/true);
    b_.create<LLVM::StoreOp>(loc(), stored, address, Alignment(stored.getType()));
  };
  store(memory.values, s_.ToStored(sum.value, CombinedType()));
  if (sum.position) store(memory.positions, sum.position);
}

Accumulated KernelBuilder::LoadAt(const Memory& memory, Value number) {
  const auto load = [&](Value array, mlir::Type type) -> Value {
    const Value address = b_.create<LLVM::GEPOp>(loc(), array.getType(), type, array,
                                                 mlir::ValueRange{number}, /*inbounds=*/true);
    return b_.create<LLVM::LoadOp>(loc(), type, address, Alignment(type));
  };
  const Value stored = load(memory.values, s_.StoredType(CombinedType()));
  Accumulated sum = {s_.FromStored(stored, CombinedType()), Value()};
  if (memory.positions) sum.position = load(memory.positions, b_.getI64Type());
  return sum;
}

// Behind it each thread of the group sees what the others have written before it.
void KernelBuilder::GroupBarrier() {
  const bool block = threads_->columns || threads_->group > function_.target().warp;
  Values arguments;
  if (!block) arguments.push_back(b_.create<arith::ConstantOp>(loc(), b_.getI32IntegerAttr(-1)));
  const auto name = b_.getStringAttr(block ? "llvm.nvvm.barrier0" : "llvm.nvvm.bar.warp.sync");
  b_.create<LLVM::CallIntrinsicOp>(loc(), mlir::TypeRange(), arguments,
                                   b_.getNamedAttr("intrin", name));
}

// Whether the thread that reads an element in `reader` is the one that computes the same element of
// the row in `writer`.
bool KernelBuilder::IsOwn(const Expr& read, const KernelBuilder& reader,
                          const KernelBuilder& writer) const {
  return threads_->inner[reader.number_] == threads_->inner[writer.number_] &&
         read.position == writer.definition_.left;
}

// Whether it reads of a row what other threads of the group have written, or writes over what
// others have to read first.
bool KernelBuilder::NeedsBarrier() const {
  const NamedKernel& kernel = function_.kernel();
  bool needs = false;
  const auto look = [&](const KernelBuilder& reader, const KernelBuilder& writer, int operand) {
    Walk(reader.definition_, [&](const Expr& expr) {
      if (expr.kind == Expr::kRead && expr.operand == operand)
        needs |= !IsOwn(expr, reader, writer);
    });
  };
  for (size_t o = 0; o < writers_.size(); ++o) {
    if (writers_[o] != nullptr && !IsElement(static_cast<int>(o)))
      look(*this, *writers_[o], static_cast<int>(o));
  }
  if (place_.computes.kind != KernelTensor::kResult) return needs;
  for (const KernelBuilder* reader : earlier_) {
    for (size_t o = 0; o < reader->place_.operands.size(); ++o) {
      const KernelTensor& tensor = reader->place_.operands[o];
      if (tensor.kind != KernelTensor::kOperand) continue;
      const bool in_place = tensor.number < static_cast<int>(kernel.overwritten_by.size()) &&
                            kernel.overwritten_by[tensor.number] == place_.computes.number;
      if (in_place || kernel.may_alias) look(*reader, *this, static_cast<int>(o));
    }
  }
  return needs;
}

}  // namespace yuba::kernels
