// A scatter by one index that data gives, on GPUs: identities everywhere; then, for each term, a
// warp that sees whether it is the first that goes to its place, and adds up all that go there in
// their order. Every element is written by one thread, so that the bits are the same in every run.
#include <algorithm>

#include "compiler/kernels/kernel_builder.h"

namespace yuba::kernels {

void KernelBuilder::WriteIdentities() {
  OverPoints([&] {
    const Value identity = s_.ToStored(IdentityValue(), definition_.result.type);
    ForLanes([&] { Write(identity, whole_result_); });
  });
}

// Runs `action` with the loops of term number `term` bound.
Values KernelBuilder::AtTerm(Value term, const std::function<Values()>& action) {
  return Scoped([&] {
    Values values;
    WithChunk(threads_->points, /*lanes=*/1, term, [&] { values = action(); });
    return values;
  });
}

// Where the term at hand goes.
Value KernelBuilder::PlaceOfTerm() { return LookedUp(ScatterStep()); }

// The one step that looks up where terms go.
const LoopStep& KernelBuilder::ScatterStep() const {
  return *std::find_if(plan_.steps.begin(), plan_.steps.end(),
                       [](const LoopStep& step) { return step.kind == LoopStep::kLookup; });
}

// Whether `condition`, an i1, holds in any thread of the warp.
Value KernelBuilder::InAnyOfWarp(Value condition) {
  for (int distance = function_.target().warp / 2; distance > 0; distance /= 2)
    condition = b_.create<arith::OrIOp>(loc(), condition, FromOtherLane(condition, distance));
  return condition;
}

void KernelBuilder::ScatterToPlaces() {
  const Value term = Chunk(), terms = Points();
  Where(Compare(arith::CmpIPredicate::ult, term, terms), {}, [&](const Values&) {
    const auto place_of = [&](Value number) {
      return AtTerm(number, [&] { return Values{PlaceOfTerm()}; })[0];
    };
    const Value place = place_of(term);
    const auto goes_there = [&](Value other) -> Value {
      return Compare(arith::CmpIPredicate::eq, place_of(other), place);
    };
    const Value no = b_.create<arith::ConstantIntOp>(loc(), false, 1);
    const Values earlier = For(in_group_, term, s_.Int(threads_->group), {no},
                               [&](Value other, const Values& carried) -> Values {
                                 return {Either(carried[0], goes_there(other))};
                               });
    const int index = ScatterStep().index;
    const Value inside = s_.And(Compare(arith::CmpIPredicate::sle, begin_[index], place),
                                Compare(arith::CmpIPredicate::slt, place, end_[index]));
    const Value later = InAnyOfWarp(earlier[0]);
    const Value first =
        b_.create<arith::XOrIOp>(loc(), later, b_.create<arith::ConstantIntOp>(loc(), true, 1));
    Where(s_.And(first, inside), {}, [&](const Values&) {
      Bind(index, place);
      StorePlace(SumOfPlace(term, terms, goes_there));
      return Values();
    });
    return Values();
  });
}

// Runs `action` with each of the thread's turns along a place bound, and all of its lanes at hand.
void KernelBuilder::AlongPlace(const Action& action) {
  const InnerLoops& inner = threads_->inner[number_];
  const int64_t most = inner.turns / inner.lanes, group = threads_->group;
  const int64_t turns = std::min(kMostUnrolled, (most + group - 1) / group);
  const bool known = inner.loops.empty() || inner.loops.front().extent.has_value();
  Value chunks = s_.Int(most);
  if (!known) {
    chunks = s_.Int(1);
    for (const MergedLoop& loop : inner.loops) chunks = s_.Mul(chunks, ExtentOf(loop));
    chunks = s_.FloorDiv(chunks, inner.lanes);  // which divide the last extent
  }
  const Value begin = threads_->parts > 1 ? s_.Mul(part_, s_.Int(turns * group)) : s_.Int(0);
  for (int64_t turn = 0; turn < turns; ++turn) {
    Value chunk = s_.Add(s_.Add(begin, in_group_), s_.Int(turn * group));
    if (!known || threads_->parts * turns * group > most) {
      active_ = Compare(arith::CmpIPredicate::ult, chunk, chunks);
      chunk = s_.Min(chunk, s_.Sub(chunks, s_.Int(1)));
    }
    Scoped([&] { WithChunk(inner.loops, inner.lanes, chunk, action); });
    active_ = Value();
  }
}

// What all terms from `term` on that go to its place add up to, for each turn and lane.
Values KernelBuilder::SumOfPlace(Value term, Value terms,
                                 const std::function<Value(Value)>& goes_there) {
  Values sums;
  AlongPlace([&] { ForLanes([&] { sums.push_back(IdentityValue().value); }); });
  const Value warp = s_.Int(threads_->group);
  const auto add = [&](Value other, const Values& carried) {
    return AtTerm(other, [&] { return WithTerm(carried); });
  };
  return For(term, terms, warp, sums, [&](Value begin, const Values& carried) {
    // Most terms go elsewhere: of as many as the warp has threads each looks at one.
    const Value mine = s_.Add(begin, in_group_);
    const Value there = goes_there(s_.Min(mine, s_.Sub(terms, s_.Int(1))));
    return Where(InAnyOfWarp(there), carried, [&](const Values& some) {
      const Value end = s_.Min(s_.Add(begin, warp), terms);
      return For(begin, end, s_.Int(1), some, [&](Value other, const Values& each) {
        return Where(goes_there(other), each,
                     [&](const Values& values) { return add(other, values); });
      });
    });
  });
}

// `carried`, to which the term at hand is added.
Values KernelBuilder::WithTerm(const Values& carried) {
  Values sums;
  AlongPlace([&] {
    ForLanes([&] {
      const Typed value = s_.Convert(EmitRoot(definition_.body), accumulator_type_);
      const Typed sum = {carried[sums.size()], accumulator_type_};
      const bool keep = definition_.reducer != Reducer::kPick;
      sums.push_back(keep ? s_.Combine(definition_.reducer, sum, value).value : value.value);
    });
  });
  return sums;
}

void KernelBuilder::StorePlace(const Values& sums) {
  size_t next = 0;
  AlongPlace([&] {
    const auto store = [&] {
      ForLanes([&] { Store({sums[next++], accumulator_type_}, result_); });
    };
    if (!active_) return store();
    Where(active_, {}, [&](const Values&) {
      store();
      return Values();
    });
  });
}

}  // namespace yuba::kernels
