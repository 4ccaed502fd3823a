// Message passing over the likeliest values alone: SweepLikely of message_passing.h.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "search/solve/message_passing.h"
#include "search/solve/shrink.h"

namespace yuba::search {
namespace {

// The likeliest values of a variable: one in kActiveShare, but at least kLeastActive.
constexpr size_t kActiveShare = 10, kLeastActive = 32;
constexpr int kActiveRounds = 6;
constexpr int kActiveSweeps = 15, kFinalSweeps = 60;  // of each round, and of the last
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

bool MessagePassing::Single() const {
  return std::all_of(classes_.begin(), classes_.end(), [](const ClassesPtr& classes) {
    return classes->count == static_cast<int>(classes->of.size());
  });
}

void MessagePassing::SweepLikely(double enough) {
  const double first = Sweep(kFirstSweeps, enough);
  if (first >= enough || stopped_) return;
  const Messages before[2] = {message_[0], message_[1]};
  Active active(ends_.size());
  for (int round = 1; round <= kActiveRounds && !stopped_; ++round) {
    Activate(&active);
    const PairwiseProblem some = Shrinking(problem_).Of(active);
    const std::vector<ClassesPtr> classes = EachItsOwn(some);
    MessagePassing inside(some, classes, order_, budget_, most_);
    for (int side : {0, 1}) {
      Exchange(active, side, [&](size_t f, size_t i, int x) {
        inside.message_[side][f][i] = message_[side][f][x];
      });
    }
    const bool last = round == kActiveRounds;
    const double best = inside.Sweep(last ? kFinalSweeps : kActiveSweeps, enough);
    if (inside.stopped_) {
      stopped_ = true;
      break;
    }
    if (last || best >= enough) {
      Lift(active, inside.Balanced());
      break;
    }
    for (int side : {0, 1}) {
      Exchange(active, side, [&](size_t f, size_t i, int x) {
        message_[side][f][x] = inside.message_[side][f][i];
      });
    }
    active_ = &active;
    Sweep(1);
    active_ = nullptr;
  }
  const double all = stopped_ ? -kInfinity : Sweep(kLastSweeps, enough);
  if (all >= first) return;
  for (int side : {0, 1}) message_[side] = before[side];
}

void MessagePassing::Activate(Active* active) const {
  std::vector<double> belief;
  std::vector<int> ranked;
  for (size_t v = 0; v < ends_.size(); ++v) {
    Belief(static_cast<int>(v), &belief);
    ranked.resize(belief.size());
    std::iota(ranked.begin(), ranked.end(), 0);
    const size_t count =
        std::min(ranked.size(), std::max(kLeastActive, ranked.size() / kActiveShare));
    std::partial_sort(ranked.begin(), ranked.begin() + count, ranked.end(), [&](int a, int b) {
      return belief[a] != belief[b] ? belief[a] < belief[b] : a < b;
    });
    std::vector<int>& here = (*active)[v];
    here.insert(here.end(), ranked.begin(), ranked.begin() + count);
    std::sort(here.begin(), here.end());
    here.erase(std::unique(here.begin(), here.end()), here.end());
  }
}

template <typename Put>
void MessagePassing::Exchange(const Active& active, int side, const Put& put) const {
  for (size_t f = 0; f < problem_.factors.size(); ++f) {
    if (problem_.factors[f].scope.size() == 1) continue;
    const std::vector<int>& here = active[problem_.factors[f].scope[side]];
    for (size_t i = 0; i < here.size(); ++i) put(f, i, here[i]);
  }
}

void MessagePassing::Lift(const Active& active, const std::vector<std::vector<int64_t>>& messages) {
  Exchange(active, 0, [&](size_t f, size_t i, int a) {
    message_[0][f][a] = static_cast<double>(messages[f][i]);
  });
  std::vector<std::vector<char>> is_active;
  for (size_t v = 0; v < active.size(); ++v) {
    is_active.emplace_back(classes_[v]->count, 0);
    for (const int x : active[v]) is_active[v][x] = 1;
  }
  for (size_t v = 0; v < ends_.size() && !stopped_; ++v) {
    stopped_ = budget_.ShouldStop();
    LiftInto(static_cast<int>(v), active);
  }
  for (size_t v = 0; v < ends_.size(); ++v) {
    ShareOut(static_cast<int>(v), is_active[v]);
  }
  for (size_t v = 0; v < ends_.size() && !stopped_; ++v) {
    stopped_ = budget_.ShouldStop();
    for (const End& end : ends_[v]) {
      if (end.side == 1) Receive(end);
    }
  }
}

void MessagePassing::LiftInto(int v, const Active& active) {
  std::vector<double> value(own_[v].begin(), own_[v].end());
  std::vector<std::vector<double>> least;  // by end
  for (const End& end : ends_[v]) {
    if (end.side == 0) return;
    std::vector<double> source(message_[0][end.factor].size(), kInfinity);
    for (const int a : active[end.other]) source[a] = -message_[0][end.factor][a];
    least.emplace_back();
    costs_[end.factor]->ToColumns(source, &least.back());
    for (size_t b = 0; b < value.size(); ++b) value[b] += least.back()[b];
  }
  const double lowest = *std::min_element(value.begin(), value.end());
  for (size_t e = 0; e < least.size(); ++e) {
    const End& end = ends_[v][e];
    const auto ends = static_cast<double>(least.size());
    for (size_t b = 0; b < value.size(); ++b) {
      least[e][b] = (value[b] - lowest) / ends - least[e][b];
    }
    std::vector<double>& to = message_[0][end.factor];
    const std::vector<double> before = to;
    costs_[end.factor]->ToRows(least[e], &to);
    for (const int a : active[end.other]) to[a] = before[a];
  }
}

void MessagePassing::ShareOut(int v, const std::vector<char>& active) {
  if (ends_[v].empty() || ends_[v][0].side == 1) return;
  std::vector<double> belief;
  Belief(v, &belief);
  for (const End& end : ends_[v]) {
    for (size_t a = 0; a < belief.size(); ++a) {
      if (!active[a]) {
        message_[0][end.factor][a] -= belief[a] / static_cast<double>(ends_[v].size());
      }
    }
  }
}

void MessagePassing::Receive(const End& end) {
  std::vector<double> from = message_[0][end.factor];
  for (double& value : from) value = -value;
  std::vector<double>& to = message_[1][end.factor];
  costs_[end.factor]->ToColumns(from, &to);
  const double least = *std::min_element(to.begin(), to.end());
  for (double& value : to) value -= least;
}

}  // namespace yuba::search
