#include "search/dual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "opsemantics/base/check.h"
#include "search/inner_loop.h"
#include "search/parallel.h"

namespace yuba {
namespace {

constexpr size_t kLikely = 6;

// Where values are many, most sweeps are over the likeliest values alone:
// of each variable a share, but so many at least.
constexpr size_t kActiveShare = 10, kLeastActive = 32;
constexpr int kActiveRounds = 6;
constexpr int kActiveSweeps = 15, kFinalSweeps = 60;  // of each round, and of the last
constexpr int kFirstSweeps = 4, kLastSweeps = 28;     // over all values

constexpr double kInfinity = std::numeric_limits<double>::infinity();

YUBA_INNER_LOOP void LowerTo(double* least, const double* row, double more, int size) {
  for (int i = 0; i < size; ++i) {
    double value = row[i] + more;
    least[i] = value < least[i] ? value : least[i];
  }
}

YUBA_INNER_LOOP double LeastSum(const double* a, const double* b, int size) {
  constexpr int kLanes = 16;
  double lanes[kLanes];
  for (double& lane : lanes) lane = kInfinity;
  int i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const double sum = a[i + lane] + b[i + lane];
      lanes[lane] = sum < lanes[lane] ? sum : lanes[lane];
    }
  }
  double least = *std::min_element(lanes, lanes + kLanes);
  for (; i < size; ++i) least = std::min(least, a[i] + b[i]);
  return least;
}

struct Range {
  double least, greatest;
};

// The least cost of each pair of classes, for both directions of a message.
struct Reduced {
  std::vector<double> by_first;            // [first][second]
  std::vector<double> by_second;           // [second][first]
  std::vector<Range> of_first, of_second;  // of each row
};

std::vector<Range> RangesOf(const std::vector<double>& table, int rows) {
  std::vector<Range> ranges;
  const size_t size = table.size() / rows;
  for (auto row = table.begin(); row != table.end(); row += size) {
    auto ends = std::minmax_element(row, row + size);
    ranges.push_back({*ends.first, *ends.second});
  }
  return ranges;
}

class MessagePassing {
 public:
  MessagePassing(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                 const std::vector<int>& order, const Budget& budget, int64_t most = kForbidden)
      : problem_(problem),
        classes_(classes),
        order_(order),
        budget_(budget),
        most_(most),
        ends_(problem.variables.size()) {
    place_.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = static_cast<int>(i);
    for (const ClassesPtr& each : classes) own_.emplace_back(each->count, 0);
    for (size_t f = 0; f < problem.factors.size(); ++f) {
      const Factor& factor = problem.factors[f];
      if (factor.scope.size() == 1) {
        AddOwn(factor);
        continue;
      }
      reduced_.push_back(ReducedOf(factor));
      cells_ += static_cast<int64_t>(factor.cells->size());
      for (int side = 0; side < 2; ++side) {
        int v = factor.scope[side];
        ends_[v].push_back({static_cast<int>(f), side, factor.scope[1 - side]});
        message_[side].emplace_back(classes[v]->count, 0.0);
      }
    }
  }

  std::array<Messages, 2> MessagesAfter(int sweeps) {
    Sweep(sweeps);
    return {std::move(message_[0]), std::move(message_[1])};
  }

  Dual Run(int sweeps, double enough, int64_t many_cells) {
    if (cells_ > many_cells && sweeps > kFirstSweeps + kLastSweeps && Single()) {
      SweepLikely(enough);
    } else {
      Sweep(sweeps, enough);
    }
    Dual dual;
    dual.messages = Balanced();
    dual.bound = BoundOf(dual.messages);
    if (!stopped_) Pass(true);
    dual.assignment = Decode();
    dual.likely = Likely(dual.assignment);
    return dual;
  }

 private:
  // One end of a factor: `side` is the place of the variable in its scope.
  struct End {
    int factor, side, other;
  };

  // Keeps the places of the other factors.
  void AddOwn(const Factor& factor) {
    const int v = factor.scope[0];
    std::vector<int64_t> costs(own_[v].size());
    for (size_t x = 0; x < factor.cells->size(); ++x) {
      costs[classes_[v]->of[x]] = (*factor.cells)[x];
    }
    for (size_t c = 0; c < costs.size(); ++c) own_[v][c] += costs[c];
    reduced_.push_back(nullptr);
    for (Messages& messages : message_) messages.emplace_back();
  }

  // By variable the values that are, or were, among the likeliest; ascending.
  using Active = std::vector<std::vector<int>>;

  bool Single() const {
    return std::all_of(classes_.begin(), classes_.end(), [](const ClassesPtr& classes) {
      return classes->count == static_cast<int>(classes->of.size());
    });
  }

  // As Sweep, where values are many and each is its class: after some sweeps a problem of the
  // likeliest values is swept, then what its messages say to all others, of whom some join. At last
  // the others get messages under which hardly any is better, and all are swept.
  void SweepLikely(double enough) {
    const double first = Sweep(kFirstSweeps, enough);
    if (first >= enough || stopped_) return;
    const Messages before[2] = {message_[0], message_[1]};
    Active active(ends_.size());
    for (int round = 1; round <= kActiveRounds && !stopped_; ++round) {
      Activate(&active);
      const PairwiseProblem some = ProblemOf(active);
      std::vector<ClassesPtr> classes;
      for (const std::vector<int>& here : active) {
        Classes each = {static_cast<int>(here.size()), std::vector<int>(here.size())};
        std::iota(each.of.begin(), each.of.end(), 0);
        classes.push_back(std::make_shared<const Classes>(std::move(each)));
      }
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
    if (!stopped_ || all >= first) return;
    for (int side : {0, 1}) message_[side] = before[side];
  }

  // Adds the likeliest values.
  void Activate(Active* active) const {
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

  PairwiseProblem ProblemOf(const Active& active) const {
    PairwiseProblem some;
    for (const std::vector<int>& here : active) {
      some.variables.push_back(
          std::make_shared<const Domain>(Domain{static_cast<int>(here.size()), {}}));
    }
    for (const Factor& factor : problem_.factors) {
      std::vector<int64_t> cells;
      const std::vector<int64_t>& all = *factor.cells;
      for (const int a : active[factor.scope[0]]) {
        if (factor.scope.size() == 1) {
          cells.push_back(all[a]);
          continue;
        }
        const int64_t row = int64_t{a} * problem_.variables[factor.scope[1]]->size;
        for (const int b : active[factor.scope[1]]) cells.push_back(all[row + b]);
      }
      some.factors.push_back(
          {factor.scope, std::make_shared<const std::vector<int64_t>>(std::move(cells))});
    }
    return some;
  }

  // put(factor, place among the active values, value), of the messages to one side.
  template <typename Put>
  void Exchange(const Active& active, int side, const Put& put) const {
    for (size_t f = 0; f < problem_.factors.size(); ++f) {
      if (problem_.factors[f].scope.size() == 1) continue;
      const std::vector<int>& here = active[problem_.factors[f].scope[side]];
      for (size_t i = 0; i < here.size(); ++i) put(f, i, here[i]);
    }
  }

  // Messages to all from those to the active first variables: second variables are as they are with
  // these, and what each of their values costs above the least may be taken by other values of
  // their neighbours; what these take too much or too little is shared out between their ends.
  void Lift(const Active& active, const std::vector<std::vector<int64_t>>& messages) {
    Exchange(active, 0, [&](size_t f, size_t i, int a) {
      message_[0][f][a] = static_cast<double>(messages[f][i]);
    });
    std::vector<std::vector<char>> is_active;
    for (size_t v = 0; v < active.size(); ++v) {
      is_active.emplace_back(classes_[v]->count, 0);
      for (const int x : active[v]) is_active[v][x] = 1;
    }
    for (size_t v = 0; v < ends_.size() && !stopped_; ++v) {
      stopped_ = budget_.Spent();
      LiftInto(static_cast<int>(v), active);
    }
    for (size_t v = 0; v < ends_.size(); ++v) {
      ShareOut(static_cast<int>(v), is_active[v]);
    }
    for (size_t v = 0; v < ends_.size() && !stopped_; ++v) {
      stopped_ = budget_.Spent();
      for (const End& end : ends_[v]) {
        if (end.side == 1) Receive(end);
      }
    }
  }

  // Of a second variable: the messages to first ones that are not active.
  void LiftInto(int v, const Active& active) {
    std::vector<double> value(own_[v].begin(), own_[v].end());
    std::vector<std::vector<double>> least;  // by end
    for (const End& end : ends_[v]) {
      if (end.side == 0) return;
      least.emplace_back(value.size(), kInfinity);
      const std::vector<double>& table = reduced_[end.factor]->by_first;
      for (const int a : active[end.other]) {
        LowerTo(least.back().data(), table.data() + a * value.size(), -message_[0][end.factor][a],
                static_cast<int>(value.size()));
      }
      for (size_t b = 0; b < value.size(); ++b) value[b] += least.back()[b];
    }
    const double lowest = *std::min_element(value.begin(), value.end());
    for (size_t e = 0; e < least.size(); ++e) {
      const End& end = ends_[v][e];
      const auto ends = static_cast<double>(least.size());
      for (size_t b = 0; b < value.size(); ++b) {
        least[e][b] = (value[b] - lowest) / ends - least[e][b];
      }
      const std::vector<double>& table = reduced_[end.factor]->by_first;
      std::vector<double>& to = message_[0][end.factor];
      size_t next = 0;
      for (size_t a = 0; a < to.size(); ++a) {
        if (next < active[end.other].size() && active[end.other][next] == static_cast<int>(a)) {
          ++next;
          continue;
        }
        to[a] = LeastSum(table.data() + a * value.size(), least[e].data(),
                         static_cast<int>(value.size()));
      }
    }
  }

  // Of a first variable: what its values that are not active have or lack in all.
  void ShareOut(int v, const std::vector<char>& active) {
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

  // The message to a second variable, where first ones have no costs left.
  void Receive(const End& end) {
    const std::vector<double>& table = reduced_[end.factor]->by_first;
    const std::vector<double>& from = message_[0][end.factor];
    std::vector<double>& to = message_[1][end.factor];
    std::fill(to.begin(), to.end(), kInfinity);
    for (size_t a = 0; a < from.size(); ++a) {
      LowerTo(to.data(), table.data() + a * to.size(), -from[a], static_cast<int>(to.size()));
    }
    const double least = *std::min_element(to.begin(), to.end());
    for (double& value : to) value -= least;
  }

  // The bound that was reached.
  double Sweep(int sweeps, double enough = kInfinity) {
    double best = -kInfinity;
    int idle = 0;
    for (int sweep = 0; sweep < sweeps && idle < 4 && best < enough; ++sweep) {
      const Messages before[2] = {message_[0], message_[1]};
      Pass(true);
      double bound = Pass(false);
      if (stopped_) {
        // In the middle of a pass the messages show less than after it.
        for (int side : {0, 1}) message_[side] = before[side];
        break;
      }
      idle = bound > best + 1e-6 * std::abs(best) ? 0 : idle + 1;
      best = std::max(best, bound);
    }
    return best;
  }

  std::shared_ptr<const Reduced> ReducedOf(const Factor& factor) {
    const ClassesPtr &a = classes_[factor.scope[0]], &b = classes_[factor.scope[1]];
    std::shared_ptr<const Reduced>& known = reductions_[{factor.cells, a, b}];
    if (known != nullptr) return known;
    Reduced reduced;
    reduced.by_first.assign(a->count * b->count, kInfinity);
    reduced.by_second = reduced.by_first;
    size_t cell = 0;
    for (int row : a->of) {
      for (int column : b->of) {
        double cost = static_cast<double>(std::min((*factor.cells)[cell++], most_));
        double& first = reduced.by_first[row * b->count + column];
        first = std::min(first, cost);
        reduced.by_second[column * a->count + row] = first;
      }
    }
    reduced.of_first = RangesOf(reduced.by_first, a->count);
    reduced.of_second = RangesOf(reduced.by_second, b->count);
    known = std::make_shared<const Reduced>(std::move(reduced));
    return known;
  }

  // What v costs alone, and the sum of the messages into it.
  void Belief(int v, std::vector<double>* belief) const {
    belief->assign(own_[v].begin(), own_[v].end());
    for (const End& end : ends_[v]) {
      const std::vector<double>& message = message_[end.side][end.factor];
      for (size_t c = 0; c < message.size(); ++c) (*belief)[c] += message[c];
    }
  }

  // Updates all messages in one direction; the bound is that of a backward pass.
  double Pass(bool forward) {
    double bound = 0;
    std::vector<double> belief, source;
    for (size_t i = 0; i < order_.size() && !stopped_; ++i) {
      stopped_ = budget_.Spent();
      int v = order_[forward ? i : order_.size() - 1 - i];
      Belief(v, &belief);
      double share = ShareOf(v);
      double least = *std::min_element(belief.begin(), belief.end());
      bound += least;
      for (double& value : belief) value -= least;
      for (const End& end : ends_[v]) {
        if (!Ahead(v, end.other, forward)) continue;
        source = message_[end.side][end.factor];
        for (size_t c = 0; c < source.size(); ++c) source[c] = share * belief[c] - source[c];
        if (active_ != nullptr) KeepActive((*active_)[v], &source);
        bound += Send(end, source);
      }
    }
    return bound;
  }

  bool Ahead(int v, int other, bool forward) const {
    return (place_[other] > place_[v]) == forward;
  }

  static void KeepActive(const std::vector<int>& active, std::vector<double>* source) {
    std::vector<double> kept(source->size(), kInfinity);
    for (const int c : active) kept[c] = (*source)[c];
    *source = std::move(kept);
  }

  // The message to the other end, its least value taken out and returned.
  double Send(const End& end, const std::vector<double>& source) {
    const Reduced& reduced = *reduced_[end.factor];
    const std::vector<double>& table = end.side == 0 ? reduced.by_first : reduced.by_second;
    const std::vector<Range>& ranges = end.side == 0 ? reduced.of_first : reduced.of_second;
    std::vector<double>& message = message_[1 - end.side][end.factor];
    std::fill(message.begin(), message.end(), kInfinity);
    // A class whose least sum is above the greatest sum of another is nowhere the best.
    double enough = kInfinity;
    for (size_t c = 0; c < source.size(); ++c) {
      enough = std::min(enough, source[c] + ranges[c].greatest);
    }
    for (size_t c = 0; c < source.size(); ++c) {
      if (source[c] + ranges[c].least > enough) continue;
      LowerTo(message.data(), table.data() + c * message.size(), source[c],
              static_cast<int>(message.size()));
    }
    double least = *std::min_element(message.begin(), message.end());
    for (double& value : message) value -= least;
    return least;
  }

  // The best value of each variable, given those before it and the messages from those after it.
  Assignment Decode() const {
    Assignment assignment(order_.size(), -1);
    for (int v : order_) {
      const Classes& classes = *classes_[v];
      std::vector<double> cost;
      for (const int c : classes.of) cost.push_back(static_cast<double>(own_[v][c]));
      for (const End& end : ends_[v]) {
        const Factor& factor = problem_.factors[end.factor];
        int value = assignment[end.other];
        int64_t columns = problem_.variables[factor.scope[1]]->size;
        for (size_t x = 0; x < cost.size(); ++x) {
          if (value < 0)
            cost[x] += message_[end.side][end.factor][classes.of[x]];
          else if (end.side == 0)
            cost[x] += (*factor.cells)[x * columns + value];
          else
            cost[x] += (*factor.cells)[value * columns + x];
        }
      }
      assignment[v] = static_cast<int>(std::min_element(cost.begin(), cost.end()) - cost.begin());
    }
    return assignment;
  }

  // The values of least belief.
  std::vector<std::vector<int>> Likely(const Assignment& assignment) const {
    std::vector<std::vector<int>> likely;
    std::vector<double> belief;
    for (size_t v = 0; v < assignment.size(); ++v) {
      Belief(static_cast<int>(v), &belief);
      const Classes& classes = *classes_[v];
      std::vector<std::pair<double, int>> ranked;
      for (int x = 0; x < static_cast<int>(classes.of.size()); ++x) {
        if (x != assignment[v]) ranked.push_back({belief[classes.of[x]], x});
      }
      std::sort(ranked.begin(), ranked.end());
      likely.push_back({assignment[v]});
      for (size_t i = 0; i < std::min(ranked.size(), kLikely - 1); ++i) {
        likely.back().push_back(ranked[i].second);
      }
    }
    return likely;
  }

  // The share of its belief that a variable gives to each end in a pass.
  double ShareOf(int v) const {
    int before = 0, all = static_cast<int>(ends_[v].size());
    for (const End& end : ends_[v]) before += Ahead(v, end.other, false);
    return 1.0 / std::max(1, std::max(before, all - before));
  }

  // The messages to first variables as integers: nothing of their own costs is left to them, unless
  // that makes a message too large. After a backward pass a factor has its share of the belief of
  // its later variable.
  std::vector<std::vector<int64_t>> Balanced() const {
    std::vector<std::vector<int64_t>> messages(problem_.factors.size());
    std::vector<double> belief;
    for (int v = 0; v < static_cast<int>(ends_.size()); ++v) {
      Belief(v, &belief);
      double share = ShareOf(v), least = *std::min_element(belief.begin(), belief.end());
      std::vector<int64_t> sum = own_[v];
      int last = -1;
      for (const End& end : ends_[v]) {
        if (end.side != 0) continue;
        double given = Ahead(v, end.other, false) ? share : 0;
        for (size_t c = 0; c < sum.size(); ++c) {
          messages[end.factor].push_back(
              std::llround(message_[0][end.factor][c] - given * (belief[c] - least)));
          sum[c] += messages[end.factor][c];
        }
        last = end.factor;
      }
      for (size_t c = 0; last >= 0 && c < sum.size(); ++c) messages[last][c] -= sum[c];
    }
    for (std::vector<int64_t>& message : messages) {
      for (int64_t& value : message) value = std::clamp(value, -most_, most_);
    }
    return messages;
  }

  int64_t BoundOf(const std::vector<std::vector<int64_t>>& messages) const {
    std::vector<int64_t> least(ends_.size());
    ParallelFor(budget_.threads(), static_cast<int64_t>(ends_.size()), [&](int64_t v) {
      std::vector<int64_t> sum;
      for (const int c : classes_[v]->of) sum.push_back(own_[v][c]);
      for (const End& end : ends_[v]) {
        const std::vector<int64_t>& message = messages[end.factor];
        if (end.side == 1) {
          AddStar(problem_.factors[end.factor], message, &sum);
          continue;
        }
        for (size_t x = 0; x < sum.size(); ++x) sum[x] += message[classes_[v]->of[x]];
      }
      least[v] = *std::min_element(sum.begin(), sum.end());
    });
    return std::accumulate(least.begin(), least.end(), int64_t{0});
  }

  void AddStar(const Factor& factor, const std::vector<int64_t>& message,
               std::vector<int64_t>* sum) const {
    std::vector<int64_t> least(sum->size(), std::numeric_limits<int64_t>::max());
    size_t cell = 0;
    for (int row : classes_[factor.scope[0]]->of) {
      for (int64_t& value : least) {
        value = std::min(value, std::min((*factor.cells)[cell++], most_) - message[row]);
      }
    }
    for (size_t x = 0; x < sum->size(); ++x) (*sum)[x] += least[x];
  }

  const PairwiseProblem& problem_;
  const std::vector<ClassesPtr>& classes_;
  const std::vector<int>& order_;
  const Budget& budget_;
  const int64_t most_;
  bool stopped_ = false;
  int64_t cells_ = 0;               // of all factors, each with a copy of its own
  const Active* active_ = nullptr;  // those that send messages; all where there is none
  std::vector<int> place_;                               // by variable: its place in the order
  std::vector<std::vector<int64_t>> own_;                // by variable and class: its own cost
  std::vector<std::vector<End>> ends_;                   // by variable
  std::vector<std::shared_ptr<const Reduced>> reduced_;  // by factor
  Messages message_[2];                                  // [side][factor]: to that end
  std::map<std::tuple<Cells, ClassesPtr, ClassesPtr>, std::shared_ptr<const Reduced>> reductions_;
};

}  // namespace

std::array<Messages, 2> PassMessages(const PairwiseProblem& problem,
                                     const std::vector<ClassesPtr>& classes,
                                     const std::vector<int>& order, int sweeps,
                                     const Budget& budget) {
  return MessagePassing(problem, classes, order, budget).MessagesAfter(sweeps);
}

Dual MaximiseDual(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                  const std::vector<int>& order, int sweeps, const Budget& budget,
                  double enough, int64_t most, int64_t many_cells) {
  return MessagePassing(problem, classes, order, budget, most).Run(sweeps, enough, many_cells);
}

}  // namespace yuba
