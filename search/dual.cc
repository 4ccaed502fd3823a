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
constexpr double kInfinity = std::numeric_limits<double>::infinity();

YUBA_INNER_LOOP void LowerTo(double* least, const double* row, double more, int size) {
  for (int i = 0; i < size; ++i) {
    double value = row[i] + more;
    least[i] = value < least[i] ? value : least[i];
  }
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

  Dual Run(int sweeps, double enough) {
    Sweep(sweeps, enough);
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

  void Sweep(int sweeps, double enough = kInfinity) {
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
        bound += Send(end, source);
      }
    }
    return bound;
  }

  bool Ahead(int v, int other, bool forward) const {
    return (place_[other] > place_[v]) == forward;
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
                  double enough, int64_t most) {
  return MessagePassing(problem, classes, order, budget, most).Run(sweeps, enough);
}

}  // namespace yuba
