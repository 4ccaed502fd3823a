#include "search/split_problem.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "search/buckets.h"
#include "search/dual.h"

namespace yuba {
namespace {

// Greedy splitting is a matter of luck: of a few tries the one that leaves most together.
Splitting Loosest(const PairwiseProblem& pairs, int64_t sums, int64_t most) {
  constexpr int kTries = 24;
  Splitting best;
  double least = 0;
  for (int i = 0; i < kTries; ++i) {
    Splitting next = SplitToFit(pairs, sums + sums * i / kTries);
    double apart = 0;
    for (size_t c = pairs.variables.size(); c < next.variable.size(); ++c) {
      apart += std::log(pairs.variables[next.variable[c]]->size);
    }
    if (i > 0 && (apart >= least || next.sums > most)) continue;
    least = apart;
    best = std::move(next);
    if (apart == 0 || best.sums > most) break;
  }
  return best;
}

}  // namespace

SplitProblem::SplitProblem(const PairwiseProblem& part, int64_t sums, int64_t most)
    : own_(part.variables.size()) {
  PairwiseProblem pairs;
  pairs.variables = part.variables;
  for (const Factor& factor : part.factors) {
    if (factor.scope.size() == 1) own_[factor.scope[0]] = factor.cells;
    else pairs.factors.push_back(factor);
  }
  splitting_ = Loosest(pairs, sums, most);
  copies_.resize(part.variables.size());
  for (size_t c = 0; c < splitting_.variable.size(); ++c) {
    copies_[splitting_.variable[c]].push_back(static_cast<int>(c));
    problem_.variables.push_back(part.variables[splitting_.variable[c]]);
    prices_.emplace_back(problem_.variables.back()->size, 0);
  }
  for (size_t f = 0; f < pairs.factors.size(); ++f) {
    problem_.factors.push_back({splitting_.scopes[f], pairs.factors[f].cells});
    pairs_.push_back(pairs.factors[f].scope);
  }
  unpriced_ = problem_.factors.size();
}

std::vector<SplitProblem::Ends> SplitProblem::EndsOfVariables() const {
  std::vector<Ends> ends(copies_.size());
  for (size_t f = 0; f < pairs_.size(); ++f) {
    for (int side : {0, 1}) ends[pairs_[f][side]].push_back({static_cast<int>(f), side});
  }
  return ends;
}

// What a variable costs by itself is in one of its factors.
PairwiseProblem SplitProblem::Unsplit(const std::vector<Ends>& ends) const {
  PairwiseProblem pairs;
  pairs.variables.assign(problem_.variables.begin(), problem_.variables.begin() + copies_.size());
  for (size_t f = 0; f < pairs_.size(); ++f) {
    Factor factor = {pairs_[f], problem_.factors[f].cells};
    for (int side : {0, 1}) {
      const bool first = ends[factor.scope[side]][0] == std::make_pair(static_cast<int>(f), side);
      if (first) AddOwn(side, &factor);
    }
    pairs.factors.push_back(std::move(factor));
  }
  return pairs;
}

void SplitProblem::Start(int sweeps, const Budget& budget) {
  const std::vector<Ends> ends = EndsOfVariables();
  const PairwiseProblem pairs = Unsplit(ends);
  std::map<int, ClassesPtr> plain;
  std::vector<ClassesPtr> classes;
  for (const DomainPtr& domain : pairs.variables) {
    ClassesPtr& each = plain[domain->size];
    if (each == nullptr) {
      each = std::make_shared<const Classes>(Classes{domain->size, domain->images[0]});
    }
    classes.push_back(each);
  }
  std::vector<int> order(classes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto messages = PassMessages(pairs, classes, order, sweeps, budget);
  for (size_t v = 0; v < copies_.size(); ++v) {
    if (copies_[v].size() == 1) continue;
    for (int x = 0; x < problem_.variables[v]->size; ++x) {
      const auto message = [&](const std::pair<int, int>& end) {
        return messages[end.second][end.first][x];
      };
      double share = 0;
      for (const auto& end : ends[v]) share += message(end) / static_cast<double>(ends[v].size());
      std::map<int, double> price;  // by copy
      if (own_[v] != nullptr) price[CopyAt(ends[v][0])] += static_cast<double>((*own_[v])[x]);
      for (const auto& end : ends[v]) price[CopyAt(end)] += share - message(end);
      for (const auto& [copy, amount] : price) {
        if (copy != static_cast<int>(v)) Pay(static_cast<int>(v), copy, x, std::llround(amount));
      }
    }
  }
}

void SplitProblem::Raise(int64_t limit, int steps, int64_t* work, const Budget& budget) {
  constexpr int kPatience = 8;
  double step = 1;
  int64_t before = 0;  // the bound some steps ago
  std::vector<std::vector<int64_t>> best;
  for (int i = 0; i < steps && *work > 0; ++i) {
    Price();
    *work -= 2 * splitting_.sums;
    absl::optional<BucketTree> tree =
        MinMarginals(problem_, splitting_.order, budget, /*of_value=*/true);
    if (!tree.has_value()) break;
    const bool better = costs_.empty() || tree->least > bound_;
    if (better) {
      bound_ = tree->least;
      costs_ = std::move(tree->of_value);
      best = prices_;
    }
    step *= better ? 1.1 : 0.5;
    if (bound_ >= limit || splitting_.variable.size() == copies_.size()) break;
    if (i % kPatience == 0) {
      if (i > 0 && bound_ - before < (limit - bound_) / 100) break;
      before = bound_;
    }
    prices_ = best;
    Move(step, limit);
  }
  if (!best.empty()) prices_ = std::move(best);
}

std::vector<int64_t> SplitProblem::CostsOf(int variable) const {
  std::vector<int64_t> costs = costs_[variable];
  for (int copy : copies_[variable]) {
    for (size_t x = 0; x < costs.size(); ++x) costs[x] = std::max(costs[x], costs_[copy][x]);
  }
  return costs;
}

absl::optional<Assignment> SplitProblem::Decode(const Budget& budget) {
  Price();
  absl::optional<Solution> solution = Eliminate(problem_, splitting_.order, budget);
  if (!solution.has_value()) return absl::nullopt;
  solution->assignment.resize(copies_.size());
  return std::move(solution->assignment);
}

BlockRound SplitProblem::Proof(int64_t limit) const {
  BlockRound round;
  round.limit = limit;
  round.order = splitting_.order;
  for (size_t c = copies_.size(); c < splitting_.variable.size(); ++c) {
    round.copies.push_back({splitting_.variable[c], {}, prices_[c]});
  }
  for (size_t f = 0; f < pairs_.size(); ++f) {
    for (int side : {0, 1}) {
      const int copy = splitting_.scopes[f][side] - static_cast<int>(copies_.size());
      if (copy >= 0) round.copies[copy].neighbours.push_back(pairs_[f][1 - side]);
    }
  }
  return round;
}

void SplitProblem::AddOwn(int side, Factor* factor) const {
  const Cells& own = own_[factor->scope[side]];
  if (own == nullptr) return;
  std::vector<int64_t> cells = *factor->cells;
  const size_t columns = problem_.variables[factor->scope[1]]->size;
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] += (*own)[side == 0 ? i / columns : i % columns];
  }
  factor->cells = std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

void SplitProblem::Price() {
  problem_.factors.resize(unpriced_);
  for (size_t v = 0; v < copies_.size(); ++v) {
    for (int copy : copies_[v]) {
      const bool own = own_[v] != nullptr && copy == static_cast<int>(v);
      if (copies_[v].size() == 1 && !own) continue;
      std::vector<int64_t> cells = prices_[copy];
      for (size_t x = 0; own && x < cells.size(); ++x) cells[x] += (*own_[v])[x];
      problem_.factors.push_back(
          {{copy}, std::make_shared<const std::vector<int64_t>>(std::move(cells))});
    }
  }
}

void SplitProblem::Pay(int from, int to, size_t value, int64_t amount) {
  prices_[to][value] += amount;
  prices_[from][value] -= amount;
}

void SplitProblem::Move(double step, int64_t limit) {
  // What is far from the best matters less.
  const double most = std::max(0.2 * static_cast<double>(limit - bound_), 1.0);
  for (const std::vector<int>& copies : copies_) {
    if (copies.size() == 1) continue;
    for (size_t x = 0; x < prices_[copies[0]].size(); ++x) {
      const auto excess = [&](int copy) {
        return std::min(static_cast<double>(costs_[copy][x] - bound_), most);
      };
      double mean = 0;
      for (int copy : copies) mean += excess(copy) / static_cast<double>(copies.size());
      for (size_t i = 1; i < copies.size(); ++i) {
        Pay(copies[0], copies[i], x, std::llround(step * (mean - excess(copies[i]))));
      }
    }
  }
}

}  // namespace yuba
