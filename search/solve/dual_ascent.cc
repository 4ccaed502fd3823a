#include "search/solve/dual_ascent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace yuba::search {
namespace {

using Passing = MessagePassing<float>;
using Values = std::vector<int>;  // of a variable, each once

constexpr double kInfinity = std::numeric_limits<double>::infinity();
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

std::vector<Passing::Edge> EdgesOf(const PairwiseProblem& problem, const std::vector<int>& factors,
                                   int64_t most) {
  std::map<std::pair<Cells, int>, Passing::Table> known;  // by cells and number of rows
  std::vector<Passing::Edge> edges;
  for (const int f : factors) {
    const Factor& factor = problem.factors[f];
    const int rows = problem.variables[factor.scope[0]]->size;
    Passing::Table& table = known[{factor.cells, rows}];
    if (table == nullptr) {
      std::vector<float> costs;
      costs.reserve(factor.cells->size());
      for (const int64_t cell : *factor.cells) {
        costs.push_back(static_cast<float>(std::min(cell, most)));
      }
      table = std::make_shared<const MinPlus<float>>(std::move(costs), rows);
    }
    edges.push_back({{factor.scope[0], factor.scope[1]}, table});
  }
  return edges;
}

// The cells of the factor for some values of its variables.
Cells SomeCells(const PairwiseProblem& problem, const Factor& factor, const Values& rows,
                const Values& columns) {
  std::vector<int64_t> cells;
  if (factor.scope.size() == 1) {
    for (int row : rows) cells.push_back((*factor.cells)[row]);
  } else {
    const int64_t width = problem.variables[factor.scope[1]]->size;
    for (int row : rows) {
      for (int column : columns) cells.push_back((*factor.cells)[row * width + column]);
    }
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(cells));
}

// The problem in which the variables have these values alone: value i of the result is
// kept[variable][i]. Equal factors share their cells again. Without symmetries and rows of memory.
PairwiseProblem Shrunk(const PairwiseProblem& problem, const std::vector<Values>& kept) {
  std::set<Values> lists;
  std::map<size_t, DomainPtr> domains;
  std::map<std::tuple<Cells, const Values*, const Values*>, Cells> known_cells;
  PairwiseProblem part;
  std::vector<const Values*> known;
  for (const Values& values : kept) {
    known.push_back(&*lists.insert(values).first);
    DomainPtr& domain = domains[values.size()];
    if (domain == nullptr) domain = PlainDomain(static_cast<int>(values.size()));
    part.variables.push_back(domain);
  }
  for (const Factor& factor : problem.factors) {
    const Values *rows = known[factor.scope[0]], *columns = known[factor.scope.back()];
    Cells& cells = known_cells[{factor.cells, rows, columns}];
    if (cells == nullptr) cells = SomeCells(problem, factor, *rows, *columns);
    part.factors.push_back({factor.scope, cells});
  }
  return part;
}

}  // namespace

DualAscent::DualAscent(const PairwiseProblem& problem, const std::vector<int>& order,
                       const Budget& budget, int64_t most)
    : problem_(problem),
      order_(order),
      budget_(budget),
      most_(most),
      own_(OwnCosts(problem)),
      factor_of_(FactorsOfTwo(problem)),
      passing_(AsDoubles(own_), EdgesOf(problem, factor_of_, most), order) {
  for (const int f : factor_of_) cells_ += static_cast<int64_t>(problem.factors[f].cells->size());
}

double DualAscent::Sweep(int sweeps, double enough) {
  double best = -std::numeric_limits<double>::infinity();
  int idle = 0;
  for (int sweep = 0; sweep < sweeps && idle < kPatience && best < enough; ++sweep) {
    Passing::Messages before = passing_.messages();
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
  const PairwiseProblem some = Shrunk(problem_, active);
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
