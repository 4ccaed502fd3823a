#include "search/rows/memory_presolve.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace yuba::search {
namespace {

using Usage = std::vector<int64_t>;

// How the load at one point of time differs from the load at another: by a number, by a number for
// each value of some variables, and by buffers that begin or end. Keeps the least and the most that
// the difference can be.
class Difference {
 public:
  void Add(int64_t by) { base_ += by; }
  void Add(int variable, const Usage& usage, int sign) {
    Usage& sum = by_variable_[variable];
    if (sum.empty()) sum.assign(usage.size(), 0);
    Account(sum, -1);
    for (size_t x = 0; x < usage.size(); ++x) sum[x] += sign * usage[x];
    Account(sum, 1);
    if (std::all_of(sum.begin(), sum.end(), [](int64_t u) { return u == 0; })) {
      by_variable_.erase(variable);
    }
  }
  void AddBuffer(int buffer, int64_t most, int sign) {
    (sign > 0 ? most_ : least_) += sign * most;
    const auto [place, is_new] = by_buffer_.emplace(buffer, std::make_pair(sign, most));
    if (is_new) return;
    least_ += most;  // the buffer begins and ends in between
    most_ -= most;
    by_buffer_.erase(place);
  }
  void Add(const Difference& other) {
    base_ += other.base_;
    for (const auto& [v, usage] : other.by_variable_) Add(v, usage, 1);
    for (const auto& [buffer, of] : other.by_buffer_) AddBuffer(buffer, of.second, of.first);
  }
  int64_t least() const { return base_ + least_; }
  int64_t most() const { return base_ + most_; }
  int64_t base() const { return base_; }
  const std::map<int, Usage>& by_variable() const { return by_variable_; }

 private:
  void Account(const Usage& usage, int sign) {
    least_ += sign * *std::min_element(usage.begin(), usage.end());
    most_ += sign * *std::max_element(usage.begin(), usage.end());
  }

  std::map<int, Usage> by_variable_;
  std::map<int, std::pair<int, int64_t>> by_buffer_;  // sign and most
  int64_t base_ = 0, least_ = 0, most_ = 0;
};

// By time at which the load changes: the difference.
class Changes {
 public:
  Changes(const PairwiseProblem& problem, const MemoryCore& core) : problem_(problem), core_(core) {
    for (size_t e = 0; e < core.edges.size(); ++e) {
      edges_[{core.edges[e].a, core.edges[e].b}] = static_cast<int>(e);
    }
    for (const MemoryUse& use : problem.memory.uses) {
      if (use.begin >= use.end) continue;
      Usage usage;
      for (int x : core.value[use.variable]) usage.push_back((*use.usage)[x]);
      Add(core.root[use.variable], std::move(usage), use.begin, use.end);
    }
    for (const MemoryBuffer& buffer : problem.memory.buffers) {
      if (buffer.begin < buffer.end) Add(buffer);
    }
  }

  const std::map<int64_t, Difference>& at() const { return at_; }
  // As CoreBuffer, with points of time instead of rows.
  struct Buffer {
    int edge = 0;
    int64_t begin = 0, end = 0;
    Cells usage;
  };
  const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  void Add(int root, Usage usage, int64_t begin, int64_t end) {
    const int64_t least = *std::min_element(usage.begin(), usage.end());
    at_[begin].Add(least);
    at_[end].Add(-least);
    for (int64_t& u : usage) u -= least;
    if (root < 0 || std::all_of(usage.begin(), usage.end(), [](int64_t u) { return u == 0; }))
      return;
    at_[begin].Add(root, usage, 1);
    at_[end].Add(root, usage, -1);
  }

  void Add(const MemoryBuffer& buffer) {
    const std::vector<int>& scope = problem_.factors[buffer.factor].scope;
    const int first = core_.root[scope[0]], last = core_.root[scope.back()];
    if (first < 0 || last < 0 || first == last) {
      return Add(std::max(first, last), AlongOne(buffer), buffer.begin, buffer.end);
    }
    const Cells& usage = OfCells(buffer, first < last);
    const int64_t most = *std::max_element(usage->begin(), usage->end());
    if (most == 0) return;
    const int number = static_cast<int>(buffers_.size());
    at_[buffer.begin].AddBuffer(number, most, 1);
    at_[buffer.end].AddBuffer(number, most, -1);
    buffers_.push_back({edges_.at(std::minmax(first, last)), buffer.begin, buffer.end, usage});
  }

  int64_t Bytes(const MemoryBuffer& buffer, int first, int last) const {
    const Factor& factor = problem_.factors[buffer.factor];
    const size_t columns = problem_.variables[factor.scope.back()]->size;
    const size_t cell = factor.scope.size() == 1 ? last : first * columns + last;
    return IsMoved((*factor.cells)[cell]) ? (*buffer.usage)[buffer.first ? first : last] : 0;
  }

  // A buffer whose factor has one variable of the core alone: its bytes by value of that.
  Usage AlongOne(const MemoryBuffer& buffer) const {
    const std::vector<int>& scope = problem_.factors[buffer.factor].scope;
    const std::vector<int>& first = core_.value[scope[0]];
    const std::vector<int>& last = core_.value[scope.back()];
    Usage usage;
    for (size_t x = 0; x < std::max(first.size(), last.size()); ++x) {
      usage.push_back(
          Bytes(buffer, first[std::min(x, first.size() - 1)], last[std::min(x, last.size() - 1)]));
    }
    return usage;
  }

  // Its bytes by cell of the edge; rows are values of the first variable, or of the last.
  const Cells& OfCells(const MemoryBuffer& buffer, bool first_is_row) {
    const Factor& factor = problem_.factors[buffer.factor];
    const std::vector<int>& first = core_.value[factor.scope[0]];
    const std::vector<int>& last = core_.value[factor.scope.back()];
    Cells& known = known_[{factor.cells, buffer.usage, buffer.first, first, last, first_is_row}];
    if (known != nullptr) return known;
    Usage usage;
    for (const int row : first_is_row ? first : last) {
      for (const int column : first_is_row ? last : first) {
        usage.push_back(Bytes(buffer, first_is_row ? row : column, first_is_row ? column : row));
      }
    }
    known = std::make_shared<const Usage>(std::move(usage));
    return known;
  }

  const PairwiseProblem& problem_;
  const MemoryCore& core_;
  std::map<std::pair<int, int>, int> edges_;  // numbers of edges, by variables of the core
  std::map<int64_t, Difference> at_;
  std::vector<Buffer> buffers_;
  // Usages of OfCells, by cells, usage, `first`, the values of both variables, and which of them
  // are rows.
  std::map<std::tuple<Cells, Cells, bool, std::vector<int>, std::vector<int>, bool>, Cells> known_;
};

// Drops points of time that the kept one before or after them dominates. The kept ones to `times`;
// returns the difference of each from the one before.
std::vector<Difference> Undominated(const std::map<int64_t, Difference>& changes,
                                    std::vector<int64_t>& times) {
  std::vector<Difference> kept;
  Difference since;  // the present load less that at the last kept time
  for (const auto& [time, change] : changes) {
    since.Add(change);
    if (!kept.empty() && since.most() <= 0) continue;
    while (!kept.empty() && since.least() >= 0) {
      since.Add(kept.back());
      kept.pop_back();
      times.pop_back();
    }
    kept.push_back(std::move(since));
    times.push_back(time);
    since = Difference();
  }
  return kept;
}

// Takes the least usage of each use off its usages and off the room of its rows.
void Normalise(MemoryCore& core) {
  for (std::vector<CoreUse>& uses : core.uses) {
    for (CoreUse& use : uses) {
      const int64_t least = *std::min_element(use.usage.begin(), use.usage.end());
      for (int64_t& u : use.usage) u -= least;
      for (int row = use.begin; row < use.end; ++row) core.room[row] -= least;
    }
  }
}

// Drops the rows that are never full, and joins neighbouring uses with equal usages.
void DropRoomy(MemoryCore& core) {
  const int rows = static_cast<int>(core.room.size());
  std::vector<int64_t> most(rows, 0);
  for (const std::vector<CoreUse>& uses : core.uses) {
    for (const CoreUse& use : uses) {
      const int64_t u = *std::max_element(use.usage.begin(), use.usage.end());
      for (int row = use.begin; row < use.end; ++row) most[row] += u;
    }
  }
  for (const CoreBuffer& buffer : core.buffers) {
    const int64_t u = *std::max_element(buffer.usage->begin(), buffer.usage->end());
    for (int row = buffer.begin; row < buffer.end; ++row) most[row] += u;
  }
  std::vector<int> number(rows + 1, 0);
  std::vector<int64_t> room, times;
  for (int row = 0; row < rows; ++row) {
    number[row] = static_cast<int>(room.size());
    if (most[row] <= core.room[row]) continue;
    room.push_back(core.room[row]);
    times.push_back(core.times.time(row));
  }
  number[rows] = static_cast<int>(room.size());
  core.room = std::move(room);
  core.times = Timeline(std::move(times));
  for (std::vector<CoreUse>& uses : core.uses) {
    std::vector<CoreUse> left;
    for (CoreUse& use : uses) {
      use.begin = number[use.begin];
      use.end = number[use.end];
      if (use.begin == use.end ||
          std::all_of(use.usage.begin(), use.usage.end(), [](int64_t u) { return u == 0; })) {
        continue;
      }
      if (!left.empty() && left.back().end == use.begin && left.back().usage == use.usage) {
        left.back().end = use.end;
      } else {
        left.push_back(std::move(use));
      }
    }
    uses = std::move(left);
  }
  core.buffers_of.assign(core.edges.size(), {});
  std::vector<CoreBuffer> left;
  for (CoreBuffer& buffer : core.buffers) {
    buffer.begin = number[buffer.begin];
    buffer.end = number[buffer.end];
    if (buffer.begin == buffer.end) continue;
    core.buffers_of[buffer.edge].push_back(static_cast<int>(left.size()));
    left.push_back(std::move(buffer));
  }
  core.buffers = std::move(left);
}

}  // namespace

void MakeRows(const PairwiseProblem& problem, MemoryCore& core) {
  core.scale = problem.memory.scale;
  const Changes changes(problem, core);
  std::vector<int64_t> times;
  const std::vector<Difference> kept = Undominated(changes.at(), times);
  core.times = Timeline(std::move(times));
  core.uses.assign(core.size(), {});
  std::map<int, CoreUse> open;
  int64_t base = 0;
  int row = 0;
  for (const Difference& difference : kept) {
    base += difference.base();
    core.room.push_back(problem.memory.limit - base);
    for (const auto& [v, usage] : difference.by_variable()) {
      CoreUse& use = open[v];
      if (use.usage.empty()) use.usage.assign(core.values(v), 0);
      use.end = row;
      if (use.begin < use.end) core.uses[v].push_back(use);
      use.begin = row;
      for (size_t x = 0; x < usage.size(); ++x) use.usage[x] += usage[x];
    }
    ++row;
  }
  for (auto& [v, use] : open) {
    use.end = row;
    core.uses[v].push_back(std::move(use));
  }
  for (const Changes::Buffer& buffer : changes.buffers()) {
    core.buffers.push_back(
        {buffer.edge, core.times.RowAt(buffer.begin), core.times.RowAt(buffer.end), buffer.usage});
  }
  Normalise(core);
  for (int64_t room : core.room)
    core.least_peak = std::max(core.least_peak, problem.memory.limit - room);
  DropRoomy(core);
}

}  // namespace yuba::search
