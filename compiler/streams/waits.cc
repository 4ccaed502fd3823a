#include "compiler/streams/waits.h"

#include <algorithm>
#include <vector>

#include "compiler/streams/units.h"
#include "opsemantics/base/box.h"
#include "runtime/program/entries.h"
#include "runtime/program/used_buffers.h"

namespace yuba::compiler {
namespace {

// Ranges of the arena's bytes.
struct Touched {
  std::vector<Interval> reads, writes;
};

Interval SlotOf(const program::Program& program, int buffer) {
  const program::Buffer& slot = program.buffers(buffer);
  return {slot.offset(), slot.offset() + slot.size()};
}

bool Overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Interval& x) {
    return std::any_of(b.begin(), b.end(),
                       [&](const Interval& y) { return x.begin < y.end && y.begin < x.end; });
  });
}

bool Conflict(const Touched& a, const Touched& b) {
  return Overlap(a.writes, b.writes) || Overlap(a.writes, b.reads) || Overlap(a.reads, b.writes);
}

Touched TouchedBy(const program::Program& program, const std::vector<program::UsedBuffers>& used,
                  const Unit& group) {
  Touched touched;
  for (int i = group.begin; i < group.end; ++i) {
    for (const int buffer : used[i].reads) touched.reads.push_back(SlotOf(program, buffer));
    for (const int buffer : used[i].writes) touched.writes.push_back(SlotOf(program, buffer));
  }
  return touched;
}

void SetWaitsOf(const program::EntryRange& entry, const std::vector<Unit>& groups,
                const std::vector<program::UsedBuffers>& used, program::Program& program) {
  std::vector<Touched> touched(groups.size());
  int known[2] = {-1, -1};  // [stream]: the group up to which it has waited for the other one
  for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
    if (groups[g].begin < entry.begin || groups[g].end > entry.end) continue;
    program::Instruction& first = *program.mutable_instructions(groups[g].begin);
    touched[g] = TouchedBy(program, used, groups[g]);
    int& waited = known[first.has_exchange()];
    int before = g - 1;
    while (before > waited &&
           (program.instructions(groups[before].begin).has_exchange() == first.has_exchange() ||
            !Conflict(touched[before], touched[g]))) {
      --before;
    }
    if (before <= waited) continue;
    waited = before;
    first.set_after(groups[before].end);
  }
}

}  // namespace

void SetWaits(program::Program& program) {
  for (program::Instruction& instruction : *program.mutable_instructions())
    instruction.set_after(0);
  const std::vector<Unit> groups = GroupedUnitsOf(program);
  const std::vector<program::UsedBuffers> used = program::UsedBuffersOf(program);
  for (const program::EntryRange& entry : program::EntriesOf(program))
    SetWaitsOf(entry, groups, used, program);
}

}  // namespace yuba::compiler
