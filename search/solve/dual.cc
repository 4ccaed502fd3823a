#include "search/solve/dual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "opsemantics/base/inner_loop.h"
#include "search/solve/dual_ascent.h"
#include "search/solve/parallel.h"

namespace yuba::search {
namespace {

YUBA_INNER_LOOP void LowerTo(int64_t* least, const int64_t* row, int64_t most, int64_t less,
                             int size) {
  for (int x = 0; x < size; ++x) least[x] = std::min(least[x], std::min(row[x], most) - less);
}

}  // namespace

Dual DualAscent::Run(const DualOptions& options) {
  if (options.start != nullptr) Begin(*options.start);
  const bool many = cells_ > options.many_cells;
  Sweep(many ? std::min(options.sweeps, options.sweeps_of_many) : options.sweeps, options.enough);
  std::vector<std::vector<int64_t>> messages = Balanced();
  Dual dual;
  if (options.keep_state) dual.state = State();
  dual.bound = BoundOf(messages);
  dual.messages.resize(problem_.factors.size());
  for (size_t e = 0; e < messages.size(); ++e) {
    dual.messages[factor_of_[e]] = std::move(messages[e]);
  }
  if (options.likely == 0) return dual;
  if (!stopped_) passing_.Pass(true, budget_);
  dual.assignment = passing_.Decode();
  dual.likely = Likely(dual.assignment, options.likely);
  return dual;
}

Assignment DualAscent::Preferred(int sweeps) {
  Sweep(sweeps);
  if (!stopped_) passing_.Pass(true, budget_);
  return passing_.Decode();
}

std::vector<std::vector<int>> DualAscent::Likely(const Assignment& assignment, size_t most) const {
  std::vector<std::vector<int>> likely;
  std::vector<double> belief;
  for (size_t v = 0; v < assignment.size(); ++v) {
    passing_.Belief(static_cast<int>(v), &belief);
    std::vector<std::pair<double, int>> ranked;
    for (int x = 0; x < static_cast<int>(belief.size()); ++x) {
      if (x != assignment[v]) ranked.push_back({belief[x], x});
    }
    std::sort(ranked.begin(), ranked.end());
    likely.push_back({assignment[v]});
    for (size_t i = 0; i < std::min(ranked.size(), most - 1); ++i) {
      likely.back().push_back(ranked[i].second);
    }
  }
  return likely;
}

std::vector<std::vector<int64_t>> DualAscent::Balanced() const {
  std::vector<std::vector<int64_t>> messages(factor_of_.size());
  std::vector<double> belief;
  for (int v = 0; v < passing_.variables(); ++v) {
    passing_.Belief(v, &belief);
    const double share = passing_.ShareOf(v);
    const double least = *std::min_element(belief.begin(), belief.end());
    std::vector<int64_t> sum = own_[v];
    int last = -1;
    bool is_first = true;  // in all scopes
    for (const End& end : passing_.ends(v)) {
      if (end.side != 0) {
        is_first = false;
        continue;
      }
      const double given = passing_.Ahead(v, end.other, false) ? share : 0;
      const std::vector<double>& message = passing_.messages()[0][end.edge];
      for (size_t x = 0; x < sum.size(); ++x) {
        messages[end.edge].push_back(std::llround(message[x] - given * (belief[x] - least)));
        sum[x] += messages[end.edge][x];
      }
      last = end.edge;
    }
    for (size_t x = 0; is_first && last >= 0 && x < sum.size(); ++x) messages[last][x] -= sum[x];
  }
  for (std::vector<int64_t>& message : messages) {
    for (int64_t& value : message) value = std::clamp(value, -most_, most_);
  }
  return messages;
}

int64_t DualAscent::BoundOf(const std::vector<std::vector<int64_t>>& messages) const {
  // Where blocks repeat, so do their messages: what equal ones leave of equal cells is found once.
  std::map<std::pair<Cells, std::vector<int64_t>>, size_t> known;
  std::vector<int> first;       // [different star]: an edge
  std::vector<size_t> star_of;  // [edge]
  for (size_t e = 0; e < messages.size(); ++e) {
    const Cells& cells = problem_.factors[factor_of_[e]].cells;
    const auto [place, is_new] = known.emplace(std::make_pair(cells, messages[e]), first.size());
    if (is_new) first.push_back(static_cast<int>(e));
    star_of.push_back(place->second);
  }
  std::vector<std::vector<int64_t>> stars(first.size());
  ParallelFor(budget_.threads(), static_cast<int64_t>(first.size()),
              [&](int64_t star) { stars[star] = Star(first[star], messages[first[star]]); });
  int64_t bound = 0;
  for (size_t v = 0; v < own_.size(); ++v) {
    std::vector<int64_t> sum = own_[v];
    for (const End& end : passing_.ends(static_cast<int>(v))) {
      const std::vector<int64_t>& added =
          end.side == 1 ? stars[star_of[end.edge]] : messages[end.edge];
      for (size_t x = 0; x < sum.size(); ++x) sum[x] += added[x];
    }
    bound += *std::min_element(sum.begin(), sum.end());
  }
  return bound;
}

namespace {

// Star of a sum (sum_min_plus.h has the formula). Cells above `most` count as that.
std::vector<int64_t> StarOfSum(const Factor& factor, const std::vector<int64_t>& message,
                               int64_t most) {
  const auto& [first, second] = *factor.sum;
  const std::vector<int64_t>& cells = *factor.cells;
  const int rows = 1 + *std::max_element(second.row_of.begin(), second.row_of.end());
  const auto runs = static_cast<int>(first.columns);
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> behind(rows * first.columns, kNone);
  for (size_t row = 0; row < message.size(); ++row) {
    LowerTo(&behind[second.row_of[row] * first.columns],
            &cells[first.begin + first.row_of[row] * first.columns], most, message[row], runs);
  }
  std::vector<int64_t> least(first.column_of.size(), kNone);
  for (int row = 0; row < rows; ++row) {
    if (behind[row * first.columns] == kNone) continue;  // no value has this class
    const int64_t* const of_row = &cells[second.begin + row * second.columns];
    for (size_t column = 0; column < least.size(); ++column) {
      least[column] =
          std::min(least[column], behind[row * first.columns + first.column_of[column]] +
                                      std::min(of_row[second.column_of[column]], most));
    }
  }
  return least;
}

}  // namespace

std::vector<int64_t> DualAscent::Star(int edge, const std::vector<int64_t>& message) const {
  const Factor& factor = problem_.factors[factor_of_[edge]];
  if (factor.sum != nullptr) return StarOfSum(factor, message, most_);
  const int64_t* row = factor.cells->data();
  const int width = problem_.variables[factor.scope[1]]->size;
  std::vector<int64_t> least(width, std::numeric_limits<int64_t>::max());
  for (const int64_t from : message) {
    LowerTo(least.data(), row, most_, from, width);
    row += width;
  }
  return least;
}

Assignment PreferredAssignment(const PairwiseProblem& problem, const std::vector<int>& order,
                               int sweeps, const Budget& budget) {
  return DualAscent(problem, order, budget).Preferred(sweeps);
}

Dual MaximiseDual(const PairwiseProblem& problem, const std::vector<int>& order,
                  const DualOptions& options, const Budget& budget) {
  const bool sweeps = options.sweeps > 0 || options.likely > 0;
  return DualAscent(problem, order, budget, options.most, sweeps).Run(options);
}

}  // namespace yuba::search
