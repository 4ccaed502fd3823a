#include "search/solve/dual_ascent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "search/solve/sum_min_plus.h"

namespace yuba::search {
namespace {

using Passing = MessagePassing<float>;

constexpr int kPatience = 4;    // sweeps in a row that bring less than ...
constexpr double kRise = 1e-6;  // ... this share of the bound are the last ones

// By variable and value: the sum of the factors of one variable.
std::vector<std::vector<int64_t>> OwnCosts(const PairwiseProblem& problem) {
  std::vector<std::vector<int64_t>> own;
  for (const DomainPtr& domain : problem.variables) own.emplace_back(domain->size, 0);
  for (const Factor& factor : problem.factors) {
    if (factor.scope.size() > 1) continue;
    std::vector<int64_t>& costs = own[factor.scope[0]];
    for (size_t x = 0; x < costs.size(); ++x) costs[x] += (*factor.cells)[x];
  }
  return own;
}

std::vector<std::vector<double>> AsDoubles(const std::vector<std::vector<int64_t>>& costs) {
  std::vector<std::vector<double>> doubles;
  for (const std::vector<int64_t>& each : costs) doubles.emplace_back(each.begin(), each.end());
  return doubles;
}

std::vector<int> FactorsOfTwo(const PairwiseProblem& problem) {
  std::vector<int> factors;
  for (size_t f = 0; f < problem.factors.size(); ++f) {
    if (problem.factors[f].scope.size() == 2) factors.push_back(static_cast<int>(f));
  }
  return factors;
}

Passing::Table TableOf(const Factor& factor, int rows, int64_t most) {
  if (factor.sum != nullptr) {
    return std::make_shared<const SumMinPlus>(*factor.sum, *factor.cells, most);
  }
  std::vector<float> costs;
  costs.reserve(factor.cells->size());
  for (const int64_t cell : *factor.cells) {
    costs.push_back(static_cast<float>(std::min(cell, most)));
  }
  return std::make_shared<const WholeMinPlus<float>>(std::move(costs), rows);
}

std::vector<Passing::Edge> EdgesOf(const PairwiseProblem& problem, const std::vector<int>& factors,
                                   int64_t most, bool with_tables) {
  std::map<std::pair<Cells, int>, Passing::Table> known;  // by cells and number of rows
  std::vector<Passing::Edge> edges;
  for (const int f : factors) {
    const Factor& factor = problem.factors[f];
    if (!with_tables) {
      edges.push_back({{factor.scope[0], factor.scope[1]}, nullptr});
      continue;
    }
    const int rows = problem.variables[factor.scope[0]]->size;
    Passing::Table& table = known[{factor.cells, rows}];
    if (table == nullptr) table = TableOf(factor, rows, most);
    edges.push_back({{factor.scope[0], factor.scope[1]}, table});
  }
  return edges;
}

}  // namespace

DualAscent::DualAscent(const PairwiseProblem& problem, const std::vector<int>& order,
                       const Budget& budget, int64_t most, bool sweeps)
    : problem_(problem),
      order_(order),
      budget_(budget),
      most_(most),
      own_(OwnCosts(problem)),
      factor_of_(FactorsOfTwo(problem)),
      passing_(AsDoubles(own_), EdgesOf(problem, factor_of_, most, sweeps), order) {
  for (const int f : factor_of_) cells_ += static_cast<int64_t>(problem.factors[f].cells->size());
}

double DualAscent::Sweep(int sweeps, double enough) {
  double best = -std::numeric_limits<double>::infinity();
  int idle = 0;
  Passing::Messages before;
  for (int sweep = 0; sweep < sweeps && idle < kPatience && best < enough; ++sweep) {
    before = passing_.messages();
    const absl::optional<double> bound = passing_.Sweep(budget_);
    if (!bound.has_value()) {
      passing_.messages() = std::move(before);
      stopped_ = true;
      break;
    }
    idle = *bound > best + kRise * std::abs(best) ? 0 : idle + 1;
    best = std::max(best, *bound);
  }
  return best;
}

void DualAscent::Begin(const MessageState& start) {
  for (const int side : {0, 1}) {
    for (size_t e = 0; e < factor_of_.size(); ++e) {
      passing_.messages()[side][e] = start[side][factor_of_[e]];
    }
  }
}

MessageState DualAscent::State() const {
  MessageState state;
  for (const int side : {0, 1}) {
    state[side].resize(problem_.factors.size());
    for (size_t e = 0; e < factor_of_.size(); ++e) {
      state[side][factor_of_[e]] = passing_.messages()[side][e];
    }
  }
  return state;
}

}  // namespace yuba::search
