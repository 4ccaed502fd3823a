#include "compiler/order/least_peak.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace yuba::compiler {
namespace {

// A set of steps that have run, and the best way there that is known.
struct State {
  std::vector<uint64_t> done;  // a bit a step
  std::vector<int> ready;      // steps that can run next, ascending
  int64_t live = 0;            // bytes
  int64_t peak = 0;            // bytes, floor at least
  int last = -1;               // its last step: an element of Search::taken_
};

bool Has(const std::vector<uint64_t>& set, int step) { return set[step / 64] >> (step % 64) & 1; }

class Search {
 public:
  Search(const Segment& segment, const PeakGoal& goal, int64_t& work)
      : segment_(segment), goal_(goal), work_(work), layers_(segment.steps.size() + 1) {}

  FoundOrder Run() {
    Add(First());
    for (size_t size = 0; size + 1 < layers_.size(); ++size) {
      std::vector<State> states = Best(std::move(layers_[size]));
      for (const State& state : states) {
        for (const int step : state.ready) {
          if (work_ < 0) return {};
          if (!Allowed(state, step)) continue;
          State next = state;
          Take(step, next);
          Add(std::move(next));
        }
      }
    }
    FoundOrder found;
    found.complete = !dropped_;
    if (layers_.back().empty()) return found;
    const State& best =
        *std::min_element(layers_.back().begin(), layers_.back().end(),
                          [](const State& a, const State& b) { return a.peak < b.peak; });
    found.peak = best.peak;
    for (int t = best.last; t >= 0; t = taken_[t].before) found.order.push_back(taken_[t].step);
    std::reverse(found.order.begin(), found.order.end());
    return found;
  }

 private:
  State First() const {
    State state;
    state.done.resize((segment_.steps.size() + 63) / 64);
    state.live = segment_.live;
    state.peak = std::max(goal_.floor, segment_.live);
    for (size_t i = 0; i < segment_.steps.size(); ++i) {
      if (segment_.steps[i].before.empty()) state.ready.push_back(static_cast<int>(i));
    }
    return state;
  }

  bool Allowed(const State& state, int step) const {
    return std::max(state.peak, state.live + segment_.steps[step].extra) < goal_.below;
  }

  // By how many bytes more are live after `step` than before it.
  int64_t Growth(const State& state, int step) {
    const Step& of = segment_.steps[step];
    int64_t growth = of.bytes;
    for (const size_t r : of.reads) {
      const bool own = r < segment_.steps.size();
      const size_t i = own ? 0 : r - segment_.steps.size();
      const std::vector<int>& readers =
          own ? segment_.steps[r].readers : segment_.inherited[i].readers;
      work_ -= static_cast<int64_t>(readers.size());
      const bool frees =
          !readers.empty() && std::all_of(readers.begin(), readers.end(),
                                          [&](int s) { return s == step || Has(state.done, s); });
      if (frees) growth -= own ? segment_.steps[r].bytes : segment_.inherited[i].bytes;
    }
    return growth;
  }

  void Take(int step, State& state) {
    const Step& of = segment_.steps[step];
    state.peak = std::max(state.peak, state.live + of.extra);
    state.live += Growth(state, step);
    state.done[step / 64] |= uint64_t{1} << (step % 64);
    state.ready.erase(std::lower_bound(state.ready.begin(), state.ready.end(), step));
    for (const int s : of.after) {
      const std::vector<int>& before = segment_.steps[s].before;
      work_ -= static_cast<int64_t>(before.size());
      if (std::all_of(before.begin(), before.end(), [&](int b) { return Has(state.done, b); })) {
        state.ready.insert(std::lower_bound(state.ready.begin(), state.ready.end(), s), s);
      }
    }
    taken_.push_back({step, state.last});
    state.last = static_cast<int>(taken_.size()) - 1;
  }

  // Runs all steps that may run at once, then keeps the state.
  void Add(State state) {
    for (size_t r = 0; r < state.ready.size();) {
      const int step = state.ready[r];
      const bool at_once =
          state.live + segment_.steps[step].extra <= state.peak && Growth(state, step) <= 0;
      if (at_once) Take(step, state);
      r = at_once ? 0 : r + 1;
    }
    size_t size = 0;
    for (const uint64_t word : state.done) size += __builtin_popcountll(word);
    work_ -= static_cast<int64_t>(20 + state.done.size() + state.ready.size());
    layers_[size].push_back(std::move(state));
  }

  // The goal's width of them, each set once.
  std::vector<State> Best(std::vector<State> states) {
    std::stable_sort(states.begin(), states.end(), [](const State& a, const State& b) {
      return std::make_pair(a.peak, a.live) < std::make_pair(b.peak, b.live);
    });
    std::vector<State> best;
    absl::flat_hash_set<std::vector<uint64_t>> seen;
    for (State& state : states) {
      if (best.size() == goal_.width) {
        dropped_ = dropped_ || seen.count(state.done) == 0;
      } else if (seen.insert(state.done).second) {
        best.push_back(std::move(state));
      }
    }
    return best;
  }

  struct Taken {
    int step, before;  // before: an element of taken_, or -1
  };

  const Segment& segment_;
  const PeakGoal goal_;
  int64_t& work_;
  std::vector<std::vector<State>> layers_;  // [number of steps that have run]
  std::vector<Taken> taken_;
  bool dropped_ = false;
};

}  // namespace

FoundOrder LeastPeak(const Segment& segment, const PeakGoal& goal, int64_t& work) {
  return Search(segment, goal, work).Run();
}

}  // namespace yuba::compiler
