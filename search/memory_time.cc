#include "search/memory_time.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace yuba {
namespace {

using Usage = std::vector<int64_t>;

// How the loads of one point of time differ from another's: a number, and for each variable one by
// value. Keeps the sums of its least and its most.
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
  void Add(const Difference& other) {
    base_ += other.base_;
    for (const auto& [v, usage] : other.by_variable_) Add(v, usage, 1);
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
  int64_t base_ = 0, least_ = 0, most_ = 0;
};

// For each time at which something changes, what changes.
std::map<int64_t, Difference> Changes(const PairwiseProblem& problem, const MemoryCore& core) {
  std::map<int64_t, Difference> changes;
  for (const MemoryUse& use : problem.memory.uses) {
    if (use.begin >= use.end) continue;
    const int root = core.root[use.variable];
    Usage usage;
    for (int x : core.value[use.variable]) usage.push_back((*use.usage)[x]);
    const int64_t least = *std::min_element(usage.begin(), usage.end());
    changes[use.begin].Add(least);
    changes[use.end].Add(-least);
    for (int64_t& u : usage) u -= least;
    if (root < 0 || std::all_of(usage.begin(), usage.end(), [](int64_t u) { return u == 0; }))
      continue;
    changes[use.begin].Add(root, usage, 1);
    changes[use.end].Add(root, usage, -1);
  }
  return changes;
}

// The points of time that no later or earlier one among those kept dominates, to `times`; each as
// its difference from the one before.
std::vector<Difference> Undominated(const std::map<int64_t, Difference>& changes,
                                    std::vector<int64_t>& times) {
  std::vector<Difference> kept;
  Difference since;  // from the last one kept
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

// Takes the least usage of each piece to the room of its rows.
void Normalise(MemoryCore& core) {
  for (std::vector<CoreUse>& uses : core.uses) {
    for (CoreUse& use : uses) {
      const int64_t least = *std::min_element(use.usage.begin(), use.usage.end());
      for (int64_t& u : use.usage) u -= least;
      for (int row = use.begin; row < use.end; ++row) core.room[row] -= least;
    }
  }
}

// Drops the rows that are never full, and joins pieces that are alike.
void DropRoomy(MemoryCore& core) {
  const int rows = static_cast<int>(core.room.size());
  std::vector<int64_t> most(rows, 0);
  for (const std::vector<CoreUse>& uses : core.uses) {
    for (const CoreUse& use : uses) {
      const int64_t u = *std::max_element(use.usage.begin(), use.usage.end());
      for (int row = use.begin; row < use.end; ++row) most[row] += u;
    }
  }
  std::vector<int> number(rows + 1, 0);
  std::vector<int64_t> room, times;
  for (int row = 0; row < rows; ++row) {
    number[row] = static_cast<int>(room.size());
    if (most[row] <= core.room[row]) continue;
    room.push_back(core.room[row]);
    times.push_back(core.row_time[row]);
  }
  number[rows] = static_cast<int>(room.size());
  core.room = std::move(room);
  core.row_time = std::move(times);
  for (std::vector<CoreUse>& uses : core.uses) {
    std::vector<CoreUse> left;
    for (CoreUse& use : uses) {
      use.begin = number[use.begin];
      use.end = number[use.end];
      if (use.begin == use.end || std::all_of(use.usage.begin(), use.usage.end(),
                                              [](int64_t u) { return u == 0; })) {
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
}

}  // namespace

void MakeRows(const PairwiseProblem& problem, MemoryCore& core) {
  const std::vector<Difference> kept = Undominated(Changes(problem, core), core.row_time);
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
  Normalise(core);
  for (int64_t room : core.room)
    core.least_peak = std::max(core.least_peak, problem.memory.limit - room);
  DropRoomy(core);
}

}  // namespace yuba
