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
    return StoreByFirst(value);
  }
  if (shared && static_cast<int>(plan_.outer.size()) > shared_ && shared_ > 0) {
    OverTurns({}, [&](const Values&) {
      const Value stored = Kept(InRegister());
      WhereActive([&] { Write(stored, result_); });
      return Values();
    });
    return;
  }
  if (!shared) {  // every thread computes all of it
    const Values sums = Accumulate({IdentityValue().value});
    return StoreByFirst({sums[0], accumulator_type_});
  }
  const int sides = threads_->columns ? threads_->lanes : lanes;
  const Values sums = OverTurns(Values(sides, IdentityValue().value),
                                [&](Values values) { return Term(std::move(values)); });
  if (threads_->columns) return StoreColumns(sums);
  Typed sum = {sums[0], accumulator_type_};
  for (int lane = 1; lane < lanes; ++lane)
    sum = s_.Combine(definition_.reducer, sum, {sums[lane], accumulator_type_});
  StoreByFirst(OverGroup(sum));
}

// All threads of the group have the value, one writes it.
void KernelBuilder::StoreByFirst(Typed value) {
  const Value first = Compare(arith::CmpIPredicate::eq, in_group_, s_.Int(0));
  const bool in_parts = threads_->parts > 1;
  const Value stored = in_parts ? s_.ToStored(value, accumulator_type_) : Kept(value);
  Where(first, {}, [&](const Values&) {
    if (in_parts)
      StorePart(stored, 0);
    else
      Write(stored, result_);
    return Values();
  });
}

// What the threads of a group have accumulated of each lane's point, which its first thread
// combines in their order.
void KernelBuilder::StoreColumns(const Values& sums) {
  const int group = threads_->group, groups = threads_->threads / group;
  const Value memory = SharedMemory(static_cast<int>(sums.size()) * threads_->threads);
  const auto place = [&](int64_t lane, Value in_group) {
    const Value row = s_.Add(in_group, s_.Int(lane * group));
    return SharedAddress(memory, s_.Add(s_.Mul(row, s_.Int(groups)), in_block_));
  };
  for (size_t lane = 0; lane < sums.size(); ++lane) StoreShared(sums[lane], place(lane, in_group_));
  GroupBarrier();
  const Value first = Compare(arith::CmpIPredicate::eq, in_group_, s_.Int(0));
  Where(s_.And(first, valid_), {}, [&](const Values&) {
    size_t lane = 0;
    ForLanes([&] {
      Typed sum;
      for (int i = 0; i < group; ++i) {
        const Typed part = LoadShared(place(lane, s_.Int(i)));
        sum = i == 0 ? part : s_.Combine(definition_.reducer, sum, part);
      }
      if (threads_->parts > 1)
        StorePart(s_.ToStored(sum, accumulator_type_), lane);
      else
        Store(sum, result_);
      ++lane;
    });
    return Values();
  });
}

// The place of a part of the sum of point `point_` + `lane`.
Value KernelBuilder::PartAddress(Value part, int64_t lane) {
  const Value number = s_.Add(s_.Mul(part, Points()), s_.Add(point_, s_.Int(lane)));
  return b_.create<LLVM::GEPOp>(loc(), pointer_, s_.StoredType(accumulator_type_),
                                function_.Scratch(), mlir::ValueRange{number}, /*inbounds=*/true);
}

void KernelBuilder::StorePart(Value stored, int64_t lane) {
  b_.create<LLVM::StoreOp>(loc(), stored, PartAddress(part_, lane), Alignment(stored.getType()));
}

// The second kernel of a sum in parts. What is computed of the sums follows there.
void KernelBuilder::SumParts(const std::vector<KernelBuilder*>& others) {
  others_ = others;
  OverPoints([&] {
    const mlir::Type type = s_.StoredType(accumulator_type_);
    const Values sum = For(s_.Int(0), s_.Int(threads_->parts), s_.Int(1), {IdentityValue().value},
                           [&](Value part, const Values& carried) -> Values {
                             const Value stored = b_.create<LLVM::LoadOp>(
                                 loc(), type, PartAddress(part, 0), Alignment(type));
                             const Typed value = s_.FromStored(stored, accumulator_type_);
                             const Typed so_far = {carried[0], accumulator_type_};
                             return {s_.Combine(definition_.reducer, so_far, value).value};
                           });
    Store({sum[0], accumulator_type_}, result_);
    for (KernelBuilder* other : others_) other->BuildLoops();
  });
}

// What all threads of the group have accumulated, in each of them. All must come here.
Typed KernelBuilder::OverGroup(Typed accumulator) {
  accumulator = OverWarp(accumulator);
  return threads_->group > function_.target().warp ? ThroughSharedMemory(accumulator) : accumulator;
}

Typed KernelBuilder::OverWarp(Typed accumulator) {
  for (int distance = function_.target().warp / 2; distance > 0; distance /= 2) {
    const Value other = FromOtherLane(accumulator.value, distance);
    accumulator = s_.Combine(definition_.reducer, accumulator, {other, accumulator_type_});
  }
  return accumulator;
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
Typed KernelBuilder::ThroughSharedMemory(Typed accumulator) {
  const int warp = function_.target().warp, warps = threads_->group / warp;
  const Value memory = SharedMemory(warps);
  const Value number = b_.create<arith::DivUIOp>(loc(), in_group_, s_.Int(warp));
  const Value in_warp = b_.create<arith::RemUIOp>(loc(), in_group_, s_.Int(warp));
  Where(Compare(arith::CmpIPredicate::eq, in_warp, s_.Int(0)), {}, [&](const Values&) {
    StoreShared(accumulator.value, SharedAddress(memory, number));
    return Values();
  });
  GroupBarrier();
  Typed sum;
  for (int i = 0; i < warps; ++i) {
    const Typed part = LoadShared(SharedAddress(memory, s_.Int(i)));
    sum = i == 0 ? part : s_.Combine(definition_.reducer, sum, part);
  }
  return sum;
}

// Memory of the block for so many accumulators of the definition.
Value KernelBuilder::SharedMemory(int count) {
  const auto pointer = LLVM::LLVMPointerType::get(b_.getContext(), kShared);
  const std::string name = function_.kernel().symbol + "_shared" + std::to_string(number_);
  const auto array = LLVM::LLVMArrayType::get(s_.StoredType(accumulator_type_), count);
  {
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(function_.module().getBody());
    auto memory = b_.create<LLVM::GlobalOp>(loc(), array, /*isConstant=*/false,
                                            LLVM::Linkage::Internal, name, mlir::Attribute(),
                                            /*alignment=*/8, kShared);
    b_.createBlock(&memory.getInitializerRegion());
    b_.create<LLVM::ReturnOp>(loc(), Value(b_.create<LLVM::UndefOp>(loc(), array)));
  }
  return b_.create<LLVM::AddressOfOp>(loc(), pointer, name);
}

Value KernelBuilder::SharedAddress(Value memory, Value number) {
  return b_.create<LLVM::GEPOp>(loc(), memory.getType(), s_.StoredType(accumulator_type_), memory,
                                mlir::ValueRange{number}, /*inbounds=*/true);
}

void KernelBuilder::StoreShared(Value accumulator, Value address) {
  const Value stored = s_.ToStored({accumulator, accumulator_type_}, accumulator_type_);
  b_.create<LLVM::StoreOp>(loc(), stored, address, Alignment(stored.getType()));
}

Typed KernelBuilder::LoadShared(Value address) {
  const mlir::Type type = s_.StoredType(accumulator_type_);
  const Value stored = b_.create<LLVM::LoadOp>(loc(), type, address, Alignment(type));
  return s_.FromStored(stored, accumulator_type_);
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
