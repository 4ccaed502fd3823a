// What the threads of a GPU share out, as the thread plan says: points among threads or groups of
// them, and the turns of inner loops within a group.
#include <algorithm>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/kernels/kernel_builder.h"

namespace yuba::kernels {
namespace {

constexpr unsigned kShared = 3;  // the address space of a block's shared memory

}  // namespace

// A number of the thread, as an i32.
Value KernelBuilder::Special(const char* name) {
  return b_
      .create<LLVM::CallIntrinsicOp>(
          loc(), b_.getI32Type(), b_.getStringAttr(std::string("llvm.nvvm.read.ptx.sreg.") + name),
          mlir::ValueRange(), LLVM::FastmathFlagsAttr())
      .getResult(0);
}

// How many points the device computes.
Value KernelBuilder::Points() {
  Value points = s_.Int(1);
  for (const MergedLoop& loop : threads_->points) {
    for (const int index : loop.indices)
      points = s_.Mul(points, s_.Max(s_.Sub(end_[index], begin_[index]), s_.Int(0)));
  }
  return points;
}

// Runs `action` at the points that are the thread's or its group's.
void KernelBuilder::OverPoints(const Action& action) {
  const ThreadPlan& plan = *threads_;
  const Value chunk = Chunk();
  point_ = s_.Mul(chunk, s_.Int(plan.lanes));
  const Value points = Points();
  if (plan.columns) {
    // Threads wait for each other, so all of them compute something; who has no point, the last.
    const Value chunks = s_.FloorDiv(points, plan.lanes);
    valid_ = Compare(arith::CmpIPredicate::ult, chunk, chunks);
    return WithChunk(plan.points, plan.lanes, s_.Min(chunk, s_.Sub(chunks, s_.Int(1))), action);
  }
  const bool rest = plan.lanes > 1 && plan.points.size() == 1;
  const Value last = rest ? s_.Add(point_, s_.Int(plan.lanes - 1)) : point_;
  Where(Compare(arith::CmpIPredicate::ult, last, points), {}, [&](const Values&) {
    WithChunk(plan.points, plan.lanes, chunk, action);
    return Values();
  });
  const absl::optional<int64_t> extent = plan.points.empty() ? 1 : plan.points.back().extent;
  if (!rest || (extent && *extent % plan.lanes == 0)) return;
  // The last thread has fewer points than lanes.
  const Value at_end = s_.And(Compare(arith::CmpIPredicate::ult, point_, points),
                              Compare(arith::CmpIPredicate::uge, last, points));
  Where(at_end, {}, [&](const Values&) {
    For(point_, points, s_.Int(1), {}, [&](Value point, const Values&) {
      BindLoop(plan.points[0], point);
      action();
      return Values();
    });
    return Values();
  });
}

// The number of the thread's points, in units of its lanes. Also says where it is in its group, and
// which part of a sum it computes.
Value KernelBuilder::Chunk() {
  const ThreadPlan& plan = *threads_;
  const auto wide = [&](Value number) -> Value {
    return b_.create<arith::ExtUIOp>(loc(), b_.getI64Type(), number);
  };
  const auto split = [&](Value number, int by) -> std::pair<Value, Value> {
    const Value divisor = b_.create<arith::ConstantOp>(loc(), b_.getI32IntegerAttr(by));
    return {wide(b_.create<arith::DivUIOp>(loc(), number, divisor)),
            wide(b_.create<arith::RemUIOp>(loc(), number, divisor))};
  };
  const int groups = plan.threads / plan.group;  // of a block
  const Value thread = Special("tid.x"), block = Special("ctaid.x");
  Value in_block = wide(thread);
  if (plan.columns) {
    std::tie(in_group_, in_block) = split(thread, groups);
  } else if (plan.group > 1) {
    std::tie(in_block, in_group_) = split(thread, plan.group);
  }
  in_block_ = in_block;
  for (KernelBuilder* other : others_) other->in_group_ = in_group_;
  Value chunk = wide(block);
  if (plan.parts > 1 && plan.stage != ThreadPlan::kSumOfParts)
    std::tie(chunk, part_) = split(block, plan.parts);
  return groups > 1 ? s_.Add(s_.Mul(chunk, s_.Int(groups)), in_block) : chunk;
}

// Runs `action` at chunk number `chunk` of the loops: a turn of all but the last, and `lanes` turns
// of that. Extents of all loops but the first are known.
void KernelBuilder::WithChunk(const std::vector<MergedLoop>& loops, int lanes, Value chunk,
                              const Action& action) {
  int64_t most = lanes;
  for (const MergedLoop& loop : loops) most = loop.extent ? most * *loop.extent : 0;
  // A division of 32 bits takes a fraction of the instructions of one of 64.
  const bool narrow = most > 0 && most < (int64_t{1} << 31);
  const mlir::Type type = narrow ? b_.getI32Type() : b_.getI64Type();
  const auto constant = [&](int64_t number) -> Value {
    return b_.create<arith::ConstantOp>(loc(), b_.getIntegerAttr(type, number));
  };
  Value rest =
      narrow && loops.size() > 1 ? Value(b_.create<arith::TruncIOp>(loc(), type, chunk)) : chunk;
  Value last = chunk;
  for (size_t at = loops.size(); at-- > 0;) {
    const MergedLoop& loop = loops[at];
    const int64_t step = at + 1 == loops.size() ? lanes : 1;
    Value turn = rest;
    if (at > 0) {
      const Value turns = loop.extent ? constant(*loop.extent / step) : ExtentOf(loop);
      turn = b_.create<arith::RemUIOp>(loc(), rest, turns);
      rest = b_.create<arith::DivUIOp>(loc(), rest, turns);
    }
    if (narrow && loops.size() > 1) turn = b_.create<arith::ExtUIOp>(loc(), b_.getI64Type(), turn);
    if (loop.extent && *loop.extent == 1) turn = s_.Int(0);
    if (at + 1 == loops.size())
      last = turn;
    else
      BindLoop(loop, turn);
  }
  if (loops.empty()) return action();
  if (lanes > 1) return WithLanes(loops.back(), lanes, s_.Mul(last, s_.Int(lanes)), action);
  BindLoop(loops.back(), last);
  action();
}

// The turns of a loop; at least one, so that it can be divided by.
Value KernelBuilder::ExtentOf(const MergedLoop& loop) {
  Value extent = s_.Int(1);
  for (const int index : loop.indices)
    extent = s_.Mul(extent, s_.Max(s_.Sub(end_[index], begin_[index]), s_.Int(1)));
  return extent;
}

// Runs `inner` at the turns of the definition's inner loops that are the thread's.
Values KernelBuilder::OverTurns(const Values& carried, const Inner& inner) {
  const InnerLoops& turns = threads_->inner[number_];
  const int64_t chunks = turns.turns / turns.lanes, group = threads_->group;
  const auto at = [&](Value chunk, const Values& values) {
    return Scoped([&] {
      Values out;
      WithChunk(turns.loops, turns.lanes, chunk, [&] { out = inner(values); });
      return out;
    });
  };
  if (threads_->parts > 1) {
    const int64_t parts = threads_->parts, each = (chunks + parts - 1) / parts;
    const Value begin = s_.Mul(part_, s_.Int(each));
    const Value end = s_.Min(s_.Add(begin, s_.Int(each)), s_.Int(chunks));
    return For(s_.Add(begin, in_group_), end, s_.Int(group), carried, at);
  }
  if (chunks > kMostUnrolled * group)
    return For(in_group_, s_.Int(chunks), s_.Int(group), carried, at);
  Values values = carried;
  row_block_ = b_.getInsertionBlock();
  for (int64_t first = 0; first < chunks; first += group) {
    turn_ = first / group;
    Value chunk = s_.Add(in_group_, s_.Int(first));
    if (first + group > chunks) {  // turns that are none compute the last one and are not counted
      active_ = Compare(arith::CmpIPredicate::ult, chunk, s_.Int(chunks));
      chunk = s_.Min(chunk, s_.Int(chunks - 1));
    }
    values = at(chunk, values);
  }
  active_ = Value();
  turn_ = -1;
  return values;
}

// What names an element of a row among those of all definitions that run through the same turns in
// straight code; empty where the thread may compute it elsewhere.
std::string KernelBuilder::RowKey(const KernelTensor& tensor, const std::vector<Affine>& position) {
  if (turn_ < 0 || b_.getInsertionBlock() != row_block_) return "";
  std::string key = absl::StrCat(tensor.kind, ",", tensor.number, ",", turn_, ",", lane_, ";");
  const InnerLoops& inner = threads_->inner[number_];
  absl::StrAppend(&key, inner.lanes);
  for (const MergedLoop& loop : inner.loops)
    absl::StrAppend(&key, "|", absl::StrJoin(loop.indices, ","));
  for (const Affine& at : position) {
    absl::StrAppend(&key, ";", at.constant);
    for (const auto& [index, coefficient] : at.terms)
      absl::StrAppend(&key, "+", coefficient, "*", index);
  }
  return key;
}

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
  const InnerLoops& turns = threads_->inner[reader.number_];
  const InnerLoops& written = threads_->inner[writer.number_];
  if (turns.turns != written.turns || turns.lanes != written.lanes) return false;
  const bool same_loops =
      std::equal(turns.loops.begin(), turns.loops.end(), written.loops.begin(), written.loops.end(),
                 [](const MergedLoop& a, const MergedLoop& b) { return a.indices == b.indices; });
  return same_loops && read.position == writer.definition_.left;
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

// Elements that a thread takes together lie in one access, whose address is a multiple of its size
// where all steps but those of the lanes are.
unsigned KernelBuilder::AlignmentAt(const Access& access, mlir::Type stored) const {
  constexpr int64_t kWidest = 16;
  const unsigned bytes = Alignment(stored);
  if (threads_ == nullptr || lane_ < 0 || lanes_ < 2) return bytes;
  const std::vector<int>& along = lane_loop_.indices;
  if (!access.strides.start || access.strides.steps[along.back()] != 1) return bytes;
  int64_t multiple = kWidest / bytes;
  const auto divide = [&](int64_t number) {
    while (number % multiple != 0) multiple /= 2;
  };
  divide(lanes_);
  divide(*access.strides.start + lane_);
  for (size_t index = 0; index < access.strides.steps.size(); ++index) {
    if (std::find(along.begin(), along.end(), static_cast<int>(index)) != along.end()) continue;
    if (!access.strides.steps[index]) return bytes;
    divide(*access.strides.steps[index]);
  }
  return bytes * static_cast<unsigned>(multiple);
}

}  // namespace yuba::kernels
