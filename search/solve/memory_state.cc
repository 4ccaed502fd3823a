#include "search/solve/memory_state.h"

#include "search/solve/memory_dual.h"

namespace yuba::search {

void MemoryState::Start(const Assignment& assignment) {
  assignment_ = assignment;
  loads_ = LoadsOf(core_, assignment);
  overload_ = 0;
  for (size_t row = 0; row < loads_.size(); ++row) overload_ += Over(row, loads_[row]);
  finite_ = core_.constant;
  forbidden_ = 0;
  for (int v = 0; v < core_.size(); ++v) Count(core_.costs[v][assignment[v]], 1);
  for (const CoreEdge& edge : core_.edges) {
    Count(edge.at(int64_t{assignment[edge.a]} * core_.values(edge.b) + assignment[edge.b]), 1);
  }
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
  for (const CoreUse& use : core_.uses[v]) {
    Load(use.begin, use.end, use.usage[to] - use.usage[from]);
  }
  Count(core_.costs[v][from], -1);
  Count(core_.costs[v][to], 1);
  for (int e : core_.edges_of[v]) {
    const CoreEdge& edge = core_.edges[e];
    const int64_t columns = core_.values(edge.b);
    const int64_t stride = edge.a == v ? columns : 1;
    const int64_t other = edge.a == v ? assignment_[edge.b] : assignment_[edge.a] * columns;
    Count(edge.at(other + from * stride), -1);
    Count(edge.at(other + to * stride), 1);
    for (int b : core_.buffers_of[e]) {
      const CoreBuffer& buffer = core_.buffers[b];
      Load(buffer.begin, buffer.end,
           (*buffer.usage)[other + to * stride] - (*buffer.usage)[other + from * stride]);
    }
  }
  assignment_[v] = to;
}

}  // namespace yuba::search
