#include "search/blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "search/buckets.h"
#include "search/dual.h"
#include "search/fold.h"
#include "search/improve.h"
#include "search/split.h"

namespace yuba {
namespace {

using Values = std::vector<int>;
using Prices = std::vector<std::vector<int64_t>>;  // by copy and value

// The problem of some values of each variable.
class Shrinking {
 public:
  explicit Shrinking(const PairwiseProblem& problem) : problem_(problem) {}

  // Without symmetries.
  PairwiseProblem Of(const std::vector<Values>& kept) {
    PairwiseProblem part;
    std::vector<const Values*> known;
    for (const Values& values : kept) {
      known.push_back(&*lists_.insert(values).first);
      part.variables.push_back(PlainDomain(static_cast<int>(values.size())));
    }
    for (const Factor& factor : problem_.factors) {
      const Values *rows = known[factor.scope[0]], *columns = known[factor.scope.back()];
      Cells& cells = cells_[{factor.cells, rows, columns}];
      if (cells == nullptr) cells = CellsOf(factor, *rows, *columns);
      part.factors.push_back({factor.scope, cells});
    }
    return part;
  }

 private:
  DomainPtr PlainDomain(int size) {
    DomainPtr& domain = domains_[size];
    if (domain == nullptr) {
      Domain plain{size, {std::vector<int>(size)}};
      std::iota(plain.images[0].begin(), plain.images[0].end(), 0);
      domain = std::make_shared<const Domain>(std::move(plain));
    }
    return domain;
  }

  Cells CellsOf(const Factor& factor, const Values& rows, const Values& columns) const {
    std::vector<int64_t> cells;
    if (factor.scope.size() == 1) {
      for (int row : rows) cells.push_back((*factor.cells)[row]);
    } else {
      const int64_t width = problem_.variables[factor.scope[1]]->size;
      for (int row : rows) {
        for (int column : columns) cells.push_back((*factor.cells)[row * width + column]);
      }
    }
    return std::make_shared<const std::vector<int64_t>>(std::move(cells));
  }

  const PairwiseProblem& problem_;
  std::set<Values> lists_;
  std::map<int, DomainPtr> domains_;
  std::map<std::tuple<Cells, const Values*, const Values*>, Cells> cells_;
};

// One round: a split problem, and its prices.
class SplitProblem {
 public:
  // Has one factor of each pair, and of each variable.
  SplitProblem(const PairwiseProblem& part, int64_t sums, int64_t most)
      : own_(part.variables.size()) {
    PairwiseProblem pairs;
    pairs.variables = part.variables;
    for (const Factor& factor : part.factors) {
      if (factor.scope.size() == 1)
        own_[factor.scope[0]] = factor.cells;
      else
        pairs.factors.push_back(factor);
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

  // Prices at which the bound is that of the pairwise dual, or better: of a variable's costs each
  // factor has what it explains and an equal share of the rest.
  void Start(int sweeps, const Budget& budget) {
    PairwiseProblem pairs;  // what a variable costs by itself is in one of its factors
    pairs.variables.assign(problem_.variables.begin(), problem_.variables.begin() + copies_.size());
    std::vector<std::vector<std::pair<int, int>>> ends(copies_.size());  // (factor, side)
    for (size_t f = 0; f < pairs_.size(); ++f) {
      Factor factor = {pairs_[f], problem_.factors[f].cells};
      for (int side : {0, 1}) {
        if (ends[factor.scope[side]].empty()) AddOwn(side, &factor);
        ends[factor.scope[side]].push_back({static_cast<int>(f), side});
      }
      pairs.factors.push_back(std::move(factor));
    }
    std::map<int, ClassesPtr> plain;
    std::vector<ClassesPtr> classes;
    std::vector<int> order;
    for (const DomainPtr& domain : pairs.variables) {
      ClassesPtr& each = plain[domain->size];
      if (each == nullptr) {
        each = std::make_shared<const Classes>(Classes{domain->size, domain->images[0]});
      }
      order.push_back(static_cast<int>(classes.size()));
      classes.push_back(each);
    }
    const auto messages = PassMessages(pairs, classes, order, sweeps, budget);
    for (size_t v = 0; v < copies_.size(); ++v) {
      if (copies_[v].size() == 1) continue;
      std::vector<double> share(problem_.variables[v]->size, 0);
      for (const auto& [f, side] : ends[v]) {
        for (size_t x = 0; x < share.size(); ++x) {
          share[x] += messages[side][f][x] / static_cast<double>(ends[v].size());
        }
      }
      const int first = static_cast<int>(v);
      for (size_t x = 0; x < share.size(); ++x) {
        std::map<int, double> price;  // by copy
        if (own_[v] != nullptr) {
          price[splitting_.scopes[ends[v][0].first][ends[v][0].second]] +=
              static_cast<double>((*own_[v])[x]);
        }
        for (const auto& [f, side] : ends[v]) {
          price[splitting_.scopes[f][side]] += share[x] - messages[side][f][x];
        }
        for (const auto& [copy, amount] : price) {
          if (copy == first) continue;
          prices_[copy][x] = std::llround(amount);
          prices_[first][x] -= prices_[copy][x];
        }
      }
    }
  }

  int64_t bound() const { return bound_; }
  int64_t sums() const { return splitting_.sums; }

  // Raises the bound to `limit` if it can.
  void Raise(int64_t limit, int steps, int64_t* work, const Budget& budget) {
    constexpr int kPatience = 8;
    double step = 1;
    int64_t before = 0;  // the bound some steps ago
    Prices best;
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

  bool raised() const { return !costs_.empty(); }

  // The least cost of each value of a variable.
  std::vector<int64_t> CostsOf(int variable) const {
    std::vector<int64_t> costs = costs_[variable];
    for (int copy : copies_[variable]) {
      for (size_t x = 0; x < costs.size(); ++x) costs[x] = std::max(costs[x], costs_[copy][x]);
    }
    return costs;
  }

  // What the first copies have in the cheapest assignment.
  absl::optional<Assignment> Decode(const Budget& budget) {
    Price();
    absl::optional<Solution> solution = Eliminate(problem_, splitting_.order, budget);
    if (!solution.has_value()) return absl::nullopt;
    solution->assignment.resize(copies_.size());
    return std::move(solution->assignment);
  }

  BlockRound Proof(int64_t limit) const {
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

 private:
  // Greedy splitting is a matter of luck: of a few tries the one that leaves most together.
  static Splitting Loosest(const PairwiseProblem& pairs, int64_t sums, int64_t most) {
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

  void AddOwn(int side, Factor* factor) const {
    const Cells& own = own_[factor->scope[side]];
    if (own == nullptr) return;
    std::vector<int64_t> cells = *factor->cells;
    const size_t columns = problem_.variables[factor->scope[1]]->size;
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i] += (*own)[side == 0 ? i / columns : i % columns];
    }
    factor->cells = std::make_shared<const std::vector<int64_t>>(std::move(cells));
  }

  // The factors of one copy: prices, and what its variable costs by itself.
  void Price() {
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

  // Copies pay each other towards equal costs of each value.
  void Move(double step, int64_t limit) {
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
          const int64_t by = std::llround(step * (mean - excess(copies[i])));
          prices_[copies[i]][x] += by;
          prices_[copies[0]][x] -= by;
        }
      }
    }
  }

  Splitting splitting_;
  std::vector<std::vector<int>> copies_;  // by variable
  std::vector<Cells> own_;                // by variable: what it costs by itself, or none
  std::vector<std::vector<int>> pairs_;   // by factor: the variables
  PairwiseProblem problem_;
  size_t unpriced_ = 0;
  Prices prices_;
  int64_t bound_ = 0;
  std::vector<std::vector<int64_t>> costs_;  // by copy and value, at the best prices
};

class BlockSearch {
 public:
  BlockSearch(const PairwiseProblem& problem, const std::vector<Values>& listed,
              const Solution& start, const BlockOptions& options, const Budget& budget)
      : problem_(problem), options_(options), budget_(budget), shrinking_(problem), kept_(listed) {
    found_.solution = start;
    Anchor();
  }

  Blocks Run() {
    int64_t before = 0, sums = options_.sums, work = options_.work, limit = found_.solution.cost;
    for (int round = 0; round < options_.rounds; ++round, sums *= options_.growth) {
      const PairwiseProblem part = shrinking_.Of(kept_);
      if (LargestFactor(part) > options_.most_sums) break;
      sums = std::min(sums, options_.most_sums);
      // Of all steps of an elimination; less for a problem that is large from the first.
      const int64_t most = work / (2 * (round == 0 ? options_.first_steps : options_.few_steps));
      if (CellsOf(part) > most && round == 0) break;  // it will take about as many
      SplitProblem split(part, sums, most);
      for (; split.sums() > most && sums / 2 > before; split = SplitProblem(part, sums, most))
        sums /= 2;
      if (split.sums() > most) break;
      before = sums;
      const int64_t cost = found_.solution.cost;
      split.Start(options_.sweeps, budget_);
      split.Raise(cost, options_.steps, &work, budget_);
      if (!split.raised()) break;
      rounds_.push_back(split.Proof(cost));
      const int64_t bound = std::min(split.bound(), limit);
      if (bound > found_.bound) {
        found_.bound = bound;
        found_.rounds = rounds_;
      }
      limit = cost;
      if (found_.bound >= cost || budget_.Spent()) break;
      const absl::optional<Assignment> decoded = split.Decode(budget_);
      Assignment near;
      for (size_t v = 0; v < kept_.size(); ++v) near.push_back(Keep(split, v, cost, decoded));
      if (std::any_of(kept_.begin(), kept_.end(),
                      [](const Values& left) { return left.empty(); })) {
        found_.bound = cost;  // each copy may leave values that the others do not
        found_.rounds = rounds_;
        break;
      }
      if (!Search(near)) break;
    }
    return std::move(found_);
  }

 private:
  static int64_t CellsOf(const PairwiseProblem& problem) {
    int64_t cells = 0;
    for (const Factor& factor : problem.factors) cells += factor.cells->size();
    return cells;
  }

  static int64_t LargestFactor(const PairwiseProblem& problem) {
    size_t largest = 0;
    for (const Factor& factor : problem.factors) largest = std::max(largest, factor.cells->size());
    return static_cast<int64_t>(largest);
  }

  // The variable of most factors whose values have images.
  void Anchor() {
    std::vector<int64_t> factors(kept_.size(), 0);
    for (const Factor& factor : problem_.factors) {
      for (int v : factor.scope) ++factors[v];
    }
    for (size_t v = 0; v < kept_.size(); ++v) {
      const bool symmetric = problem_.variables[v]->images.size() > 1 && kept_[v].size() > 1;
      const bool more = found_.anchor < 0 || factors[v] > factors[found_.anchor];
      if (symmetric && more) found_.anchor = static_cast<int>(v);
    }
    if (found_.anchor < 0) return;
    Values& values = kept_[found_.anchor];
    std::vector<int> place(values.size());
    for (size_t i = 0; i < values.size(); ++i) place[values[i]] = static_cast<int>(i);
    const std::vector<std::vector<int>>& images = problem_.variables[found_.anchor]->images;
    values.erase(std::remove_if(values.begin(), values.end(),
                                [&](int value) {
                                  return std::any_of(images.begin(), images.end(),
                                                     [&](const std::vector<int>& image) {
                                                       return place[image[value]] < place[value];
                                                     });
                                }),
                 values.end());
  }

  // Drops what costs `limit` or more; the place of the value that is decoded, or of another.
  int Keep(const SplitProblem& split, size_t v, int64_t limit,
           const absl::optional<Assignment>& decoded) {
    const std::vector<int64_t> costs = split.CostsOf(static_cast<int>(v));
    Values left;
    int near = 0;
    for (size_t x = 0; x < costs.size(); ++x) {
      if (costs[x] >= limit) continue;
      if (decoded.has_value() && (*decoded)[v] == static_cast<int>(x)) {
        near = static_cast<int>(left.size());
      }
      left.push_back(kept_[v][x]);
    }
    kept_[v] = std::move(left);
    return near;
  }

  // Local search among the values that are left.
  bool Search(const Assignment& near) {
    const PairwiseProblem part = shrinking_.Of(kept_);
    ImproveOptions improve;
    improve.rounds = 12;
    improve.work = options_.work / 16;
    const Solution better = Improve(part, {near, CostOf(part, near)}, improve, budget_);
    if (better.cost >= found_.solution.cost) return !budget_.Spent();
    for (size_t v = 0; v < kept_.size(); ++v) {
      found_.solution.assignment[v] = kept_[v][better.assignment[v]];
    }
    found_.solution.cost = better.cost;
    return !budget_.Spent();
  }

  const PairwiseProblem& problem_;
  const BlockOptions& options_;
  const Budget& budget_;
  Shrinking shrinking_;
  std::vector<Values> kept_;  // by variable
  Blocks found_;
  std::vector<BlockRound> rounds_;
};

}  // namespace

Blocks BoundByBlocks(const PairwiseProblem& problem, const std::vector<std::vector<int>>& listed,
                     const Solution& start, const BlockOptions& options, const Budget& budget) {
  PairwiseProblem merged = problem;
  merged.factors = OneOfEachScope(problem);
  return BlockSearch(merged, listed, start, options, budget).Run();
}

}  // namespace yuba
