// What the threads of a GPU share out, as the thread plan says: points among threads or groups of
// them, and the turns of inner loops within a group.
#include <algorithm>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/kernels/kernel_builder.h"

namespace yuba::kernels {

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
  if (plan.InTiles()) return OverTiles(action);
  const Value chunk = Chunk();
  for (KernelBuilder* each : All()) each->point_ = s_.Mul(chunk, s_.Int(plan.lanes));
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
  const Value thread = ThreadNumber(b_, "tid.x"), block = function_.Block();
  Value in_block = wide(thread);
  if (plan.columns) {
    std::tie(in_group_, in_block) = split(thread, groups);
  } else if (plan.group > 1) {
    std::tie(in_block, in_group_) = split(thread, plan.group);
  }
  in_block_ = in_block;
  Value chunk = wide(block);
  if (plan.parts > 1 && plan.stage != ThreadPlan::kSumOfParts)
    std::tie(chunk, part_) = split(block, plan.parts);
  for (KernelBuilder* other : others_) {
    other->in_group_ = in_group_;
    other->part_ = part_;
  }
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
  if (lanes > 1) return WithLanes({{loops.back(), lanes, s_.Mul(last, s_.Int(lanes))}}, action);
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
  return OverTurns(carried, {this}, [&](size_t, const Values& values) { return inner(values); });
}

// The same of several definitions with the same turns, of which this is the first: inner(number,
// carried) for each in turn, with its indices bound. What all of them carry on is in their order.
Values KernelBuilder::OverTurns(const Values& carried, const std::vector<KernelBuilder*>& builders,
                                const std::function<Values(size_t, const Values&)>& inner) {
  const InnerLoops& turns = threads_->inner[number_];
  const int64_t chunks = turns.turns / turns.lanes, group = threads_->group;
  const auto at = [&](Value chunk, const Values& values) {
    return Scoped([&] {
      Values out;
      for (size_t number = 0; number < builders.size(); ++number) {
        builders[number]->WithChunk(turns.loops, turns.lanes, chunk,
                                    [&] { out.append(inner(number, values)); });
      }
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
  const auto at_turn = [&](int64_t turn, Value active) {
    for (KernelBuilder* each : builders) {
      each->turn_ = turn;
      each->active_ = active;
      each->row_block_ = b_.getInsertionBlock();
    }
  };
  for (int64_t first = 0; first < chunks; first += group) {
    Value chunk = s_.Add(in_group_, s_.Int(first)), active;
    if (first + group > chunks) {  // turns that are none compute the last one and are not counted
      active = Compare(arith::CmpIPredicate::ult, chunk, s_.Int(chunks));
      chunk = s_.Min(chunk, s_.Int(chunks - 1));
    }
    at_turn(first / group, active);
    values = at(chunk, values);
  }
  at_turn(-1, Value());
  return values;
}

// What names an element of a row among those of all definitions that run through the same turns in
// straight code; empty where the thread may compute it elsewhere.
std::string KernelBuilder::RowKey(const KernelTensor& tensor, const std::vector<Affine>& position) {
  if (turn_ < 0 || b_.getInsertionBlock() != row_block_) return "";
  std::string key = absl::StrCat(tensor.kind, ",", tensor.number, ",", turn_, ",", lane_, ";");
  const InnerLoops& inner = threads_->inner[number_];
  absl::StrAppend(&key, inner.lanes);
  // With other extents the same turn is of other elements.
  for (const MergedLoop& loop : inner.loops)
    absl::StrAppend(&key, "|", absl::StrJoin(loop.indices, ","), "<", *loop.extent);
  for (const Affine& at : position) {
    absl::StrAppend(&key, ";", at.constant);
    for (const auto& [index, coefficient] : at.terms)
      absl::StrAppend(&key, "+", coefficient, "*", index);
  }
  return key;
}

// Elements that a thread takes together lie in one access, whose address is a multiple of its size
// where that of the first element is and the lanes before it are at such a distance.
unsigned KernelBuilder::AlignmentAt(const Access& access, mlir::Type stored) const {
  constexpr int64_t kWidest = 16;
  const unsigned bytes = Alignment(stored);
  if (threads_ == nullptr || lane_ < 0 || lanes_ < 2) return bytes;
  std::vector<TakenTurns> taken;
  for (const LaneLoop& loop : lane_loops_) taken.push_back({loop.loop, loop.lanes});
  int64_t multiple = FirstMultiple(access.strides, taken, kWidest / bytes);
  int rest = lane_;
  for (auto at = lane_loops_.rbegin(); at != lane_loops_.rend(); ++at) {
    const int number = rest % at->lanes;
    rest /= at->lanes;
    const absl::optional<int64_t>& step = access.strides.steps[at->loop.indices.back()];
    if (number > 0 && !step) return bytes;
    while (number > 0 && *step * number % multiple != 0) multiple /= 2;
  }
  return bytes * static_cast<unsigned>(multiple);
}

}  // namespace yuba::kernels
