#include "search/rows/memory_state.h"

namespace yuba::search {

MemoryState::MemoryState(const MemoryCore& core)
    : core_(core),
      assignment_(core.size(), kAbsent),
      loads_(core.room.size(), 0),
      finite_(core.constant) {
  for (size_t row = 0; row < loads_.size(); ++row) overload_ += Over(row, 0);
}

void MemoryState::Start(const Assignment& assignment) {
  for (int v = 0; v < core_.size(); ++v) Move(v, assignment[v]);
}

void MemoryState::Load(int begin, int end, int64_t by) {
  if (by == 0) return;
  for (int row = begin; row < end; ++row) {
    overload_ += Over(row, loads_[row] + by) - Over(row, loads_[row]);
    loads_[row] += by;
  }
}

void MemoryState::Move(int v, int to) {
  const int from = assignment_[v];
  if (from == to) return;
  const auto at = [](const std::vector<int64_t>& bytes, int64_t cell) {
    return cell < 0 ? 0 : bytes[cell];
  };
  for (const CoreUse& use : core_.uses[v]) {
    Load(use.begin, use.end, at(use.usage, to) - at(use.usage, from));
  }
  if (from != kAbsent) Count(core_.costs[v][from], -1);
  if (to != kAbsent) Count(core_.costs[v][to], 1);
  for (const int e : core_.edges_of[v]) {
    const CoreEdge& edge = core_.edges[e];
    const int other = assignment_[edge.a == v ? edge.b : edge.a];
    if (other == kAbsent) continue;
    const int64_t columns = core_.values(edge.b);
    const auto cell = [&](int value) {
      if (value == kAbsent) return int64_t{-1};
      return edge.a == v ? value * columns + other : other * columns + value;
    };
    const int64_t old_cell = cell(from), new_cell = cell(to);
    if (old_cell >= 0) Count(edge.at(old_cell), -1);
    if (new_cell >= 0) Count(edge.at(new_cell), 1);
    for (const int b : core_.buffers_of[e]) {
      const CoreBuffer& buffer = core_.buffers[b];
      Load(buffer.begin, buffer.end, at(*buffer.usage, new_cell) - at(*buffer.usage, old_cell));
    }
  }
  assignment_[v] = to;
}

}  // namespace yuba::search
