#include "search/solve/dual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "search/solve/message_passing.h"
#include "search/solve/parallel.h"

namespace yuba::search {
namespace {

constexpr size_t kLikely = 6;

}  // namespace

std::vector<ClassesPtr> EachItsOwn(const PairwiseProblem& problem) {
  std::map<int, ClassesPtr> known;  // by size
  std::vector<ClassesPtr> classes;
  for (const DomainPtr& domain : problem.variables) {
    ClassesPtr& each = known[domain->size];
    if (each == nullptr) {
      Classes own = {domain->size, std::vector<int>(domain->size)};
      std::iota(own.of.begin(), own.of.end(), 0);
      each = std::make_shared<const Classes>(std::move(own));
    }
    classes.push_back(each);
  }
  return classes;
}

Dual MessagePassing::Run(int sweeps, double enough, int64_t many_cells) {
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

Assignment MessagePassing::Decode() const {
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

std::vector<std::vector<int>> MessagePassing::Likely(const Assignment& assignment) const {
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

std::vector<std::vector<int64_t>> MessagePassing::Balanced() const {
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

int64_t MessagePassing::BoundOf(const std::vector<std::vector<int64_t>>& messages) const {
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

void MessagePassing::AddStar(const Factor& factor, const std::vector<int64_t>& message,
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

Assignment MessagePassing::Preferred(int sweeps) {
  Sweep(sweeps);
  if (!stopped_) Pass(true);
  return Decode();
}

Assignment PreferredAssignment(const PairwiseProblem& problem, const std::vector<int>& order,
                               int sweeps, const Budget& budget) {
  const std::vector<ClassesPtr> classes = EachItsOwn(problem);
  return MessagePassing(problem, classes, order, budget).Preferred(sweeps);
}

Dual MaximiseDual(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes,
                  const std::vector<int>& order, int sweeps, const Budget& budget, double enough,
                  int64_t most, int64_t many_cells) {
  return MessagePassing(problem, classes, order, budget, most).Run(sweeps, enough, many_cells);
}

}  // namespace yuba::search
