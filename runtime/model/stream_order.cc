#include "runtime/model/stream_order.h"

#include <algorithm>

#include "opsemantics/base/box.h"

namespace yuba::runtime {
namespace {

// Ranges of the arena's bytes.
struct Touched {
  std::vector<Interval> reads, writes;
};

Interval SlotOf(const LoadedProgram& program, int buffer) {
  const program::Buffer& slot = program.message().buffers(buffer);
  return {slot.offset(), slot.offset() + slot.size()};
}

Touched TouchedBy(const LoadedProgram& program, int instruction) {
  const program::Instruction& message = program.instructions()[instruction];
  Touched touched;
  if (message.has_exchange()) {
    touched.reads.push_back(SlotOf(program, message.exchange().source()));
    touched.writes.push_back(SlotOf(program, message.exchange().destination()));
    return touched;
  }
  for (const program::Access& operand : message.kernel().operands())
    touched.reads.push_back(SlotOf(program, operand.buffer()));
  for (const program::Access& result : message.kernel().results())
    touched.writes.push_back(SlotOf(program, result.buffer()));
  return touched;
}

bool Overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  for (const Interval& x : a) {
    for (const Interval& y : b) {
      if (x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

bool Conflict(const Touched& a, const Touched& b) {
  return Overlap(a.writes, b.writes) || Overlap(a.writes, b.reads) || Overlap(a.reads, b.writes);
}

}  // namespace

void OrderStreams(const LoadedProgram& program, std::vector<Step>& steps) {
  std::vector<Touched> touched;
  int waits[2] = {-1, -1};  // [stream]: what its steps so far have waited for
  for (size_t s = 0; s < steps.size(); ++s) {
    touched.push_back(TouchedBy(program, steps[s].instruction));
    int& known = waits[steps[s].exchange];
    for (int before = static_cast<int>(s) - 1; before > known; --before) {
      if (steps[before].exchange == steps[s].exchange) continue;
      if (!Conflict(touched[before], touched[s])) continue;
      known = before;
      break;
    }
    steps[s].after = known;
  }
}

}  // namespace yuba::runtime
