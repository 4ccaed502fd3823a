#include "search/memory_region.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace yuba {

void Region::Prepare(const std::vector<int>& variables, const Assignment& assignment,
                     const std::vector<std::vector<double>>& extra, int64_t cells) {
  for (int v : variables_) place_[v] = -1;
  variables_ = variables;
  for (size_t i = 0; i < variables.size(); ++i) place_[variables[i]] = static_cast<int>(i);
  Gather(assignment, extra);
  Order(assignment, cells);
  MakeTerms();
  least_ = 0;
  buckets_.assign(order_.size(), {});
  levels_.resize(order_.size());
  std::vector<int> step_of(variables_.size());
  for (size_t s = 0; s < order_.size(); ++s) step_of[order_[s]] = static_cast<int>(s);
  auto file = [&](int term) {
    int step = static_cast<int>(order_.size());
    for (int place : terms_[term].scope) step = std::min(step, step_of[place]);
    if (step < static_cast<int>(order_.size())) buckets_[step].terms.push_back(term);
    else least_ += terms_[term].cells[0];
  };
  for (size_t t = 0; t < terms_.size(); ++t) file(static_cast<int>(t));
  for (size_t s = 0; s < order_.size(); ++s) {
    EliminateAt(static_cast<int>(s));
    file(static_cast<int>(terms_.size()) - 1);
  }
}

// The costs of each variable alone, its edges to the outside included, and what `assignment` costs.
void Region::Gather(const Assignment& assignment, const std::vector<std::vector<double>>& extra) {
  const size_t count = variables_.size();
  values_.assign(count, {});
  costs_.assign(count, {});
  neighbours_.assign(count, 0);
  current_ = 0;
  std::vector<double> sum;
  for (size_t i = 0; i < count; ++i) {
    const int v = variables_[i];
    sum = extra[v];
    for (size_t x = 0; x < sum.size(); ++x) sum[x] += static_cast<double>(core_.costs[v][x]);
    for (int e : core_.edges_of[v]) {
      const CoreEdge& edge = core_.edges[e];
      const int other = edge.a == v ? edge.b : edge.a;
      const int64_t columns = core_.values(edge.b);
      if (place_[other] >= 0) {
        neighbours_[i] |= uint64_t{1} << place_[other];
        if (edge.a == v) {
          current_ += static_cast<double>(edge.at(assignment[v] * columns + assignment[other]));
        }
        continue;
      }
      const int64_t* cell =
          &(*edge.cells)[edge.a == v ? assignment[other] : assignment[other] * columns];
      const int64_t stride = edge.a == v ? columns : 1;
      for (size_t x = 0; x < sum.size(); ++x) sum[x] += static_cast<double>(cell[x * stride]);
    }
    current_ += sum[assignment[v]];
    // What the outside forbids is not tried, but for the value that is there.
    for (size_t x = 0; x < sum.size(); ++x) {
      if (sum[x] >= 5e17 && static_cast<int>(x) != assignment[v]) continue;
      values_[i].push_back(static_cast<int>(x));
      costs_[i].push_back(sum[x]);
    }
  }
}

void Region::Restrict(int place, int value) {
  const auto found = std::find(values_[place].begin(), values_[place].end(), value);
  const double cost = costs_[place][found - values_[place].begin()];
  values_[place] = {value};
  costs_[place] = {cost};
}

// Greedy, by table. Where none fits, the variable of the most neighbours keeps its value.
void Region::Order(const Assignment& assignment, int64_t cells) {
  order_.clear();
  std::vector<uint64_t> neighbours = neighbours_;
  const size_t count = variables_.size();
  std::vector<bool> gone(count, false);
  while (order_.size() < count) {
    int next = -1, widest = -1;
    int64_t least = std::numeric_limits<int64_t>::max(), most = 0;
    for (size_t i = 0; i < count; ++i) {
      if (gone[i]) continue;
      int64_t sums = static_cast<int64_t>(values_[i].size());
      for (uint64_t left = neighbours[i]; left != 0; left &= left - 1) {
        sums *= static_cast<int64_t>(values_[__builtin_ctzll(left)].size());
        if (sums > int64_t{1} << 40) break;
      }
      if (sums < least) {
        least = sums;
        next = static_cast<int>(i);
      }
      const int64_t weight = static_cast<int64_t>(values_[i].size() - 1) *
                             (1 + __builtin_popcountll(neighbours[i]));
      if (weight > most) {
        most = weight;
        widest = static_cast<int>(i);
      }
    }
    if (least > cells && widest >= 0) {
      Restrict(widest, assignment[variables_[widest]]);
      continue;
    }
    gone[next] = true;
    order_.push_back(next);
    for (uint64_t left = neighbours[next]; left != 0; left &= left - 1) {
      const int i = __builtin_ctzll(left);
      neighbours[i] = (neighbours[i] | neighbours[next]) & ~(uint64_t{1} << i) &
                      ~(uint64_t{1} << next);
    }
  }
}

void Region::MakeTerms() {
  terms_.clear();
  for (size_t i = 0; i < variables_.size(); ++i) {
    terms_.push_back({{static_cast<int>(i)}, costs_[i]});
    for (int e : core_.edges_of[variables_[i]]) {
      const CoreEdge& edge = core_.edges[e];
      if (edge.a != variables_[i] || place_[edge.b] < 0) continue;
      Term term;
      const int j = place_[edge.b];
      term.scope = {static_cast<int>(i), j};
      const int64_t columns = core_.values(edge.b);
      for (int x : values_[i]) {
        for (int y : values_[j]) {
          term.cells.push_back(static_cast<double>(edge.at(x * columns + y)));
        }
      }
      terms_.push_back(std::move(term));
    }
  }
}

// The least sum of a bucket's terms over its variable, for all values of the others: a new term.
void Region::EliminateAt(int step) {
  const int place = order_[step];
  Bucket& bucket = buckets_[step];
  Term result;
  for (int t : bucket.terms) {
    for (int i : terms_[t].scope) {
      if (i != place &&
          std::find(result.scope.begin(), result.scope.end(), i) == result.scope.end()) {
        result.scope.push_back(i);
      }
    }
  }
  const size_t rank = result.scope.size(), count = bucket.terms.size();
  std::vector<int64_t> strides(count * (rank + 1), 0);
  int64_t cells = 1;
  for (int i : result.scope) cells *= static_cast<int64_t>(values_[i].size());
  for (size_t t = 0; t < count; ++t) {
    const Term& term = terms_[bucket.terms[t]];
    int64_t stride = 1;
    for (size_t d = term.scope.size(); d-- > 0;) {
      const auto at = std::find(result.scope.begin(), result.scope.end(), term.scope[d]);
      strides[t * (rank + 1) + (at - result.scope.begin())] = stride;
      stride *= static_cast<int64_t>(values_[term.scope[d]].size());
    }
  }
  result.cells.resize(cells);
  std::vector<const double*> at(count);
  for (size_t t = 0; t < count; ++t) at[t] = terms_[bucket.terms[t]].cells.data();
  std::vector<int> value(rank, 0);
  const int size = static_cast<int>(values_[place].size());
  std::vector<double> sum(size);
  for (int64_t cell = 0; cell < cells; ++cell) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (size_t t = 0; t < count; ++t) {
      const int64_t stride = strides[t * (rank + 1) + rank];
      for (int x = 0; x < size; ++x) sum[x] += at[t][x * stride];
    }
    result.cells[cell] = *std::min_element(sum.begin(), sum.end());
    for (size_t d = rank; d-- > 0;) {
      const int extent = static_cast<int>(values_[result.scope[d]].size());
      const bool wraps = ++value[d] == extent;
      if (wraps) value[d] = 0;
      for (size_t t = 0; t < count; ++t) {
        at[t] += (wraps ? 1 - extent : 1) * strides[t * (rank + 1) + d];
      }
      if (!wraps) break;
    }
  }
  bucket.result = static_cast<int>(terms_.size());
  terms_.push_back(std::move(result));
}

// What each value of the step's variable adds, those after it being chosen.
void Region::CostsAt(int step, Level& level) {
  const int place = order_[step];
  const int size = static_cast<int>(values_[place].size());
  level.costs.assign(size, 0.0);
  for (int t : buckets_[step].terms) {
    const Term& term = terms_[t];
    int64_t offset = 0, own = 0, stride = 1;
    for (size_t d = term.scope.size(); d-- > 0;) {
      if (term.scope[d] == place) own = stride;
      else offset += chosen_[term.scope[d]] * stride;
      stride *= static_cast<int64_t>(values_[term.scope[d]].size());
    }
    for (int x = 0; x < size; ++x) level.costs[x] += term.cells[offset + x * own];
  }
  level.by_cost.resize(size);
  std::iota(level.by_cost.begin(), level.by_cost.end(), 0);
  std::sort(level.by_cost.begin(), level.by_cost.end(),
            [&](int a, int b) { return level.costs[a] < level.costs[b]; });
}

}  // namespace yuba
