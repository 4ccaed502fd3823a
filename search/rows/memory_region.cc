#include "search/rows/memory_region.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "opsemantics/base/inner_loop.h"

namespace yuba::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kMostKept = int64_t{1} << 21;  // cells of edges that are kept as doubles
constexpr double kImpossible = 5e17;             // costs of forbidden values are above this

// A table as rows, one for each value of the eliminated place, `stride` apart.
struct Rows {
  const double* cells = nullptr;
  int64_t stride = 0;
  bool wide = false;  // a row has `width` cells; else one
};

// least[i]: the least, over the values, of costs[value] and the tables' cells added up.
YUBA_INNER_LOOP void LowerRow(const Rows* tables, int count, const double* costs, int values,
                              double* sum, double* least, int width) {
  for (int i = 0; i < width; ++i) least[i] = kInfinity;
  for (int x = 0; x < values; ++x) {
    double more = costs[x];
    const double* first = nullptr;
    for (int t = 0; t < count; ++t) {
      const double* row = tables[t].cells + x * tables[t].stride;
      if (!tables[t].wide) {
        more += *row;
      } else if (first == nullptr) {
        first = row;
      } else {
        for (int i = 0; i < width; ++i) sum[i] = first[i] + row[i];
        first = sum;
      }
    }
    for (int i = 0; i < width; ++i) least[i] = std::min(least[i], first[i] + more);
  }
}

YUBA_INNER_LOOP void AddRow(const double* row, double* sum, int width) {
  for (int i = 0; i < width; ++i) sum[i] += row[i];
}

}  // namespace

Region::Region(const MemoryCore& core)
    : core_(core), place_(core.size(), -1), tables_(2 * core.edges.size()) {
  for (const CoreEdge& edge : core.edges) cells_ += static_cast<int64_t>(edge.cells->size());
  SetPrices(PricesOf(core, std::vector<double>(core.room.size(), 0)));
}

void Region::SetPrices(CorePrices prices) {
  prices_ = std::move(prices);
  for (const CoreBuffer& buffer : core_.buffers) {
    for (const int side : {0, 1}) tables_[2 * buffer.edge + side].clear();
  }
}

void Region::Prepare(const std::vector<int>& variables, const Assignment& assignment,
                     int64_t cells) {
  for (int v : variables_) place_[v] = -1;
  variables_ = variables;
  for (size_t i = 0; i < variables.size(); ++i) place_[variables[i]] = static_cast<int>(i);
  Gather(assignment);
  Order(assignment, cells);
  least_ = 0;
  term_count_ = 0;
  if (buckets_.size() < order_.size()) buckets_.resize(order_.size());
  if (levels_.size() < order_.size()) levels_.resize(order_.size());
  for (std::vector<int>& bucket : buckets_) bucket.clear();
  MakeTerms();
  for (size_t s = 0; s < order_.size(); ++s) EliminateAt(static_cast<int>(s));
}

// The edge's costs at the prices, rows by value of a, or of b with `b_first`; null where there are
// too many edges' cells to keep them.
const double* Region::TableOf(int number, bool b_first) {
  if (cells_ > kMostKept) return nullptr;
  std::vector<double>& table = tables_[2 * number + b_first];
  if (table.empty()) {
    const CoreEdge& edge = core_.edges[number];
    const int rows = core_.values(edge.a), columns = core_.values(edge.b);
    table.resize(edge.cells->size());
    for (int x = 0; x < rows; ++x) {
      for (int y = 0; y < columns; ++y) {
        table[b_first ? y * rows + x : x * columns + y] = CellAt(number, int64_t{x} * columns + y);
      }
    }
  }
  return table.data();
}

// Fills values_ and costs_: each variable's own costs, with those of its edges to variables
// outside. current_: what `assignment` costs.
void Region::Gather(const Assignment& assignment) {
  const size_t count = variables_.size();
  if (values_.size() < count) {
    values_.resize(count);
    costs_.resize(count);
  }
  neighbours_.assign(count, 0);
  current_ = 0;
  std::vector<double>& sum = sum_;
  for (size_t i = 0; i < count; ++i) {
    const int v = variables_[i];
    sum = prices_.values[v];
    for (size_t x = 0; x < sum.size(); ++x) sum[x] += static_cast<double>(core_.costs[v][x]);
    for (int e : core_.edges_of[v]) {
      const CoreEdge& edge = core_.edges[e];
      const int other = edge.a == v ? edge.b : edge.a;
      const int64_t columns = core_.values(edge.b);
      if (place_[other] >= 0) {
        neighbours_[i] |= uint64_t{1} << place_[other];
        if (edge.a == v) {
          current_ += CellAt(e, assignment[v] * columns + assignment[other]);
        }
        continue;
      }
      if (const double* table = TableOf(e, edge.b == other)) {
        const int width = static_cast<int>(sum.size());
        AddRow(table + int64_t{assignment[other]} * width, sum.data(), width);
        continue;
      }
      const int64_t first = edge.a == v ? assignment[other] : assignment[other] * columns;
      const int64_t stride = edge.a == v ? columns : 1;
      for (size_t x = 0; x < sum.size(); ++x) sum[x] += CellAt(e, first + x * stride);
    }
    current_ += sum[assignment[v]];
    // Values that the outside forbids are not tried, but for the present one.
    values_[i].clear();
    costs_[i].clear();
    for (size_t x = 0; x < sum.size(); ++x) {
      if (sum[x] >= kImpossible && static_cast<int>(x) != assignment[v]) continue;
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

// The greedy order of elimination, the smallest table first. Where no table fits, the place with
// the most values times neighbours keeps its value.
void Region::Order(const Assignment& assignment, int64_t cells) {
  order_.clear();
  const size_t count = variables_.size();
  std::vector<uint64_t> neighbours = neighbours_;
  uint64_t left = 0;  // a bit for each place with several values
  for (size_t i = 0; i < count; ++i) left |= uint64_t{values_[i].size() > 1} << i;
  while (left != 0) {
    int next = -1, widest = -1;
    int64_t least = std::numeric_limits<int64_t>::max(), most = 0;
    for (uint64_t rest = left; rest != 0; rest &= rest - 1) {
      const int i = __builtin_ctzll(rest);
      int64_t sums = static_cast<int64_t>(values_[i].size()), weight = sums - 1;
      int degree = 1;
      for (uint64_t near = neighbours[i] & left; near != 0; near &= near - 1) {
        if (sums <= int64_t{1} << 40) sums *= values_[__builtin_ctzll(near)].size();
        ++degree;
      }
      weight *= degree;
      if (sums < least) {
        least = sums;
        next = i;
      }
      if (weight > most) {
        most = weight;
        widest = i;
      }
    }
    if (least > cells) {
      Restrict(widest, assignment[variables_[widest]]);
      left &= ~(uint64_t{1} << widest);
      continue;
    }
    left &= ~(uint64_t{1} << next);
    order_.push_back(next);
    for (uint64_t near = neighbours[next] & left; near != 0; near &= near - 1) {
      const int i = __builtin_ctzll(near);
      neighbours[i] = (neighbours[i] | neighbours[next]) & ~(uint64_t{1} << i);
    }
  }
  step_of_.assign(count, -1);
  for (size_t s = 0; s < order_.size(); ++s) step_of_[order_[s]] = static_cast<int>(s);
}

void Region::MakeTerms() {
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (step_of_[i] < 0) least_ += costs_[i][0];
    for (int e : core_.edges_of[variables_[i]]) {
      const CoreEdge& edge = core_.edges[e];
      if (edge.a == variables_[i] && place_[edge.b] >= 0) {
        MakeTerm(e, static_cast<int>(i), place_[edge.b]);
      }
    }
  }
}

// Adds the edge between places i and j: a term, or a cost of one place where the other has one
// value.
void Region::MakeTerm(int number, int i, int j) {
  const CoreEdge& edge = core_.edges[number];
  const int64_t columns = core_.values(edge.b);
  const auto cell = [&](int x, int y) {
    return CellAt(number, values_[i][x] * columns + values_[j][y]);
  };
  const int rows = static_cast<int>(values_[i].size()), width = static_cast<int>(values_[j].size());
  if (step_of_[i] < 0 && step_of_[j] < 0) {
    least_ += cell(0, 0);
  } else if (step_of_[i] < 0) {
    for (int y = 0; y < width; ++y) costs_[j][y] += cell(0, y);
  } else if (step_of_[j] < 0) {
    for (int x = 0; x < rows; ++x) costs_[i][x] += cell(x, 0);
  } else {
    const bool turned = step_of_[j] < step_of_[i];
    const bool whole = rows == core_.values(edge.a) && width == columns;
    Term& term = AddTerm();
    term.scope = turned ? std::vector<int>{j, i} : std::vector<int>{i, j};
    term.stride = turned ? rows : width;
    term.cells = whole ? TableOf(number, turned) : nullptr;
    if (term.cells == nullptr) {
      term.own.resize(int64_t{rows} * width);
      for (int x = 0; x < rows; ++x) {
        for (int y = 0; y < width; ++y) {
          term.own[turned ? y * rows + x : x * width + y] = cell(x, y);
        }
      }
      term.cells = term.own.data();
    }
    File(static_cast<int>(term_count_) - 1);
  }
}

// Eliminates a place: the least sum of its terms over its values, for all values of the places that
// they contain, is a new term.
void Region::EliminateAt(int step) {
  const int place = order_[step];
  const std::vector<int>& bucket = buckets_[step];
  if (bucket.empty()) {
    least_ += *std::min_element(costs_[place].begin(), costs_[place].end());
    return;
  }
  uint64_t met = 0;  // steps
  for (int t : bucket) {
    for (int i : terms_[t].scope) met |= uint64_t{1} << step_of_[i];
  }
  met &= ~(uint64_t{1} << step);
  scope_.clear();
  int64_t cells = 1;
  for (; met != 0; met &= met - 1) {
    scope_.push_back(order_[__builtin_ctzll(met)]);
    cells *= static_cast<int64_t>(values_[scope_.back()].size());
  }
  sums_ += cells * static_cast<int64_t>(values_[place].size());
  Term& result = AddTerm();
  result.own.resize(cells);
  Lower(bucket, place, result.own.data(), cells);
  if (scope_.size() == 1) {
    AddRow(result.own.data(), costs_[scope_[0]].data(), static_cast<int>(cells));
    --term_count_;
    return;
  }
  result.scope = scope_;
  result.cells = result.own.data();
  result.stride = cells / static_cast<int64_t>(values_[scope_[0]].size());
  File(static_cast<int>(term_count_) - 1);
}

// The cells of the new term, by values of scope_, to `least`.
void Region::Lower(const std::vector<int>& terms, int place, double* least, int64_t cells) {
  const size_t rank = scope_.size(), count = terms.size();
  const int width = static_cast<int>(values_[scope_[rank - 1]].size());
  std::vector<Rows> tables(count);
  strides_.assign(count * rank, 0);
  for (size_t t = 0; t < count; ++t) {
    const Term& term = terms_[terms[t]];
    tables[t] = {term.cells, term.stride, term.scope.back() == scope_[rank - 1]};
    int64_t stride = 1;
    for (size_t d = term.scope.size(), place_of = rank; --d > 0;) {
      while (scope_[--place_of] != term.scope[d]) continue;
      strides_[t * rank + place_of] = stride;
      stride *= static_cast<int64_t>(values_[term.scope[d]].size());
    }
  }
  sum_.resize(width);
  value_.assign(rank, 0);
  const double* costs = costs_[place].data();
  const int values = static_cast<int>(values_[place].size());
  for (int64_t cell = 0; cell < cells; cell += width) {
    LowerRow(tables.data(), static_cast<int>(count), costs, values, sum_.data(), least + cell,
             width);
    for (size_t d = rank - 1; d-- > 0;) {
      const int extent = static_cast<int>(values_[scope_[d]].size());
      const bool wraps = ++value_[d] == extent;
      if (wraps) value_[d] = 0;
      for (size_t t = 0; t < count; ++t) {
        tables[t].cells += (wraps ? 1 - extent : 1) * strides_[t * rank + d];
      }
      if (!wraps) break;
    }
  }
}

// Fills level.costs: what each value of the step's place costs, all places that were eliminated
// after it having their values; and by_cost: those that cost less than `room` more than the least,
// which is returned.
double Region::CostsAt(int step, double room, Level& level) {
  const int place = order_[step];
  const int size = static_cast<int>(values_[place].size());
  level.costs = costs_[place];
  for (int t : buckets_[step]) {
    const Term& term = terms_[t];
    int64_t offset = 0, stride = 1;
    for (size_t d = term.scope.size(); --d > 0;) {
      offset += chosen_[term.scope[d]] * stride;
      stride *= static_cast<int64_t>(values_[term.scope[d]].size());
    }
    for (int x = 0; x < size; ++x) level.costs[x] += term.cells[offset + x * term.stride];
  }
  const double best = *std::min_element(level.costs.begin(), level.costs.end());
  level.by_cost.clear();
  for (int x = 0; x < size; ++x) {
    if (level.costs[x] - best < room) level.by_cost.push_back(x);
  }
  std::sort(level.by_cost.begin(), level.by_cost.end(), [&](int a, int b) {
    return level.costs[a] != level.costs[b] ? level.costs[a] < level.costs[b] : a < b;
  });
  return best;
}

}  // namespace yuba::search
