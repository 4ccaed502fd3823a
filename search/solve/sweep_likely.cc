// Message passing over the likeliest values alone: SweepLikely of dual_ascent.h.
#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "search/solve/dual_ascent.h"
#include "search/solve/shrink.h"

namespace yuba::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void DualAscent::SweepLikely(const DualOptions& options) {
  const double first = Sweep(options.first_sweeps, options.enough);
  if (first >= options.enough || stopped_) return;
  Passing::Messages before = passing_.messages();
  Passing::Values active(own_.size());
  for (int round = 1; round <= options.rounds; ++round) {
    Activate(options, &active);
    if (!Round(active, round == options.rounds, options)) break;
    passing_.SetSenders(&active);
    Sweep(1);
    passing_.SetSenders(nullptr);
    if (stopped_) break;
  }
  const double all = stopped_ ? -kInfinity : Sweep(options.last_sweeps, options.enough);
  if (all < first) passing_.messages() = std::move(before);
}

bool DualAscent::Round(const Passing::Values& active, bool last, const DualOptions& options) {
  const PairwiseProblem some = Shrinking(problem_).Of(active);
  DualAscent inside(some, order_, budget_, most_);
  for (const int side : {0, 1}) {
    Exchange(active, side, [&](size_t e, size_t i, int x) {
      inside.passing_.messages()[side][e][i] = passing_.messages()[side][e][x];
    });
  }
  const double best =
      inside.Sweep(last ? options.last_round_sweeps : options.round_sweeps, options.enough);
  stopped_ = inside.stopped_;
  if (stopped_) return false;
  if (last || best >= options.enough) {
    Lift(active, inside.Balanced());
    return false;
  }
  for (const int side : {0, 1}) {
    Exchange(active, side, [&](size_t e, size_t i, int x) {
      passing_.messages()[side][e][x] = inside.passing_.messages()[side][e][i];
    });
  }
  return true;
}

void DualAscent::Activate(const DualOptions& options, Passing::Values* active) const {
  std::vector<double> belief;
  std::vector<int> ranked;
  for (size_t v = 0; v < own_.size(); ++v) {
    passing_.Belief(static_cast<int>(v), &belief);
    ranked.resize(belief.size());
    std::iota(ranked.begin(), ranked.end(), 0);
    const size_t count = std::min(
        ranked.size(), std::max(options.least_likely, ranked.size() / options.likely_share));
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
void DualAscent::Exchange(const Passing::Values& active, int side, const Put& put) const {
  for (size_t e = 0; e < factor_of_.size(); ++e) {
    const std::vector<int>& here = active[passing_.edges()[e].variables[side]];
    for (size_t i = 0; i < here.size(); ++i) put(e, i, here[i]);
  }
}

void DualAscent::Lift(const Passing::Values& active,
                      const std::vector<std::vector<int64_t>>& messages) {
  Exchange(active, 0, [&](size_t e, size_t i, int a) {
    passing_.messages()[0][e][a] = static_cast<double>(messages[e][i]);
  });
  const int variables = passing_.variables();
  for (int v = 0; v < variables && !stopped_; ++v) {
    stopped_ = budget_.ShouldStop();
    LiftInto(v, active);
  }
  for (int v = 0; v < variables; ++v) ShareOut(v, active[v]);
  for (int v = 0; v < variables && !stopped_; ++v) {
    stopped_ = budget_.ShouldStop();
    for (const End& end : passing_.ends(v)) {
      if (end.side == 1) Receive(end);
    }
  }
}

void DualAscent::LiftInto(int v, const Passing::Values& active) {
  std::vector<double> value = passing_.unary(v);
  const std::vector<End>& ends = passing_.ends(v);
  std::vector<std::vector<double>> least;  // by end
  for (const End& end : ends) {
    if (end.side == 0) return;
    const std::vector<double>& message = passing_.messages()[0][end.edge];
    std::vector<double> source(message.size(), kInfinity);
    for (const int a : active[end.other]) source[a] = -message[a];
    least.emplace_back();
    passing_.edges()[end.edge].costs->ToColumns(source, &least.back());
    for (size_t b = 0; b < value.size(); ++b) value[b] += least.back()[b];
  }
  const double lowest = *std::min_element(value.begin(), value.end());
  for (size_t e = 0; e < ends.size(); ++e) {
    const auto share = static_cast<double>(ends.size());
    for (size_t b = 0; b < value.size(); ++b) {
      least[e][b] = (value[b] - lowest) / share - least[e][b];
    }
    std::vector<double>& to = passing_.messages()[0][ends[e].edge];
    const std::vector<double> before = to;
    passing_.edges()[ends[e].edge].costs->ToRows(least[e], &to);
    for (const int a : active[ends[e].other]) to[a] = before[a];
  }
}

void DualAscent::ShareOut(int v, const std::vector<int>& active) {
  const std::vector<End>& ends = passing_.ends(v);
  if (ends.empty() || ends[0].side == 1) return;
  std::vector<double> belief;
  passing_.Belief(v, &belief);
  for (const int a : active) belief[a] = 0;
  for (const End& end : ends) {
    std::vector<double>& message = passing_.messages()[0][end.edge];
    for (size_t a = 0; a < belief.size(); ++a) {
      message[a] -= belief[a] / static_cast<double>(ends.size());
    }
  }
}

void DualAscent::Receive(const End& end) {
  std::vector<double> from = passing_.messages()[0][end.edge];
  for (double& value : from) value = -value;
  std::vector<double>& to = passing_.messages()[1][end.edge];
  passing_.edges()[end.edge].costs->ToColumns(from, &to);
  const double least = *std::min_element(to.begin(), to.end());
  for (double& value : to) value -= least;
}

}  // namespace yuba::search
