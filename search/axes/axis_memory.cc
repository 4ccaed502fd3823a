#include "search/axes/axis_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "opsemantics/base/check.h"

namespace yuba::search {
namespace {

// Rows of which the greatest load is kept: most changes leave most rows below the target, and those
// are passed by so many at a time. About the root of the rows of a large graph.
constexpr int kBlock = 64;

}  // namespace

AxisMemory::AxisMemory(const AxisProblem& problem, const GridProblem& grids, bool buffers,
                       const Mesh& mesh, ChoiceStore* store)
    : problem_(problem),
      mesh_(mesh),
      store_(*store),
      choices_(problem.variables.size(), -1),
      uses_(problem.variables.size()),
      buffers_(problem.variables.size()),
      price_units_(grids.pairwise.memory.scale.units),
      target_(std::numeric_limits<int64_t>::max()) {
  const MemoryRows& rows = grids.pairwise.memory;
  AddRows(rows);
  for (const MemoryUse& use : rows.uses) {
    const auto [least, most] = std::minmax_element(use.usage->begin(), use.usage->end());
    const int begin = times_.RowAt(use.begin), end = times_.RowAt(use.end);
    if (begin >= end || *most == 0) continue;
    if (*least == *most) {  // whatever the choice
      for (int row = begin; row < end; ++row) loads_[row] += *least;
      continue;
    }
    const int kind = KindOf(grids.grids[use.variable], use.usage, problem.dims[use.variable]);
    uses_[problem.variable[use.variable]].push_back({kind, begin, end, 0});
  }
  if (buffers) AddBuffers(grids);
  most_.assign((loads_.size() + kBlock - 1) / kBlock, 0);
  UpdateMost(0, static_cast<int>(loads_.size()));
}

int AxisMemory::KindOf(const GridList& grids, const Cells& usage, int dims) {
  const auto [place, is_new] =
      numbers_.emplace(std::make_tuple(grids, usage, dims), static_cast<int>(kinds_.size()));
  if (is_new) kinds_.push_back({grids, usage, dims, {}});
  return place->second;
}

// Between two beginnings nothing is added, so the load is greatest at the first of them.
void AxisMemory::AddRows(const MemoryRows& rows) {
  std::vector<int64_t> begins;
  for (const MemoryUse& use : rows.uses) {
    if (use.begin < use.end) begins.push_back(use.begin);
  }
  for (const MemoryBuffer& buffer : rows.buffers) begins.push_back(buffer.begin);
  times_ = Timeline(std::move(begins));
  loads_.assign(times_.rows(), 0);
  row_prices_.assign(times_.rows(), 0);
}

void AxisMemory::AddBuffers(const GridProblem& grids) {
  // Factors and edges are both the graph's uses in their order, unless a budget was spent before
  // all factors were made. Then buffers do not count: each plan's program is measured all the same.
  if (problem_.edges.size() != grids.pairwise.factors.size()) return;
  for (const MemoryBuffer& buffer : grids.pairwise.memory.buffers) {
    const AxisEdge& edge = problem_.edges[buffer.factor];
    if (edge.tensor == edge.node) continue;  // between a copy and its node nothing moves
    const int node = grids.pairwise.factors[buffer.factor].scope[1];
    const Buffer here = {KindOf(grids.grids[node], buffer.usage, edge.node_dims), buffer.factor,
                         times_.RowAt(buffer.begin), times_.RowAt(buffer.end)};
    buffers_[edge.tensor].push_back(here);
    buffers_[edge.node].push_back(here);
  }
}

void AxisMemory::SetPrices(const std::vector<MemoryPrice>& prices, double scale) {
  row_prices_ = times_.PricesByRow(prices, scale, price_units_);
  priced_ = !prices.empty() && times_.rows() > 0;
  priced_rows_.clear();
  for (size_t row = 0; row < row_prices_.size(); ++row) {
    if (row_prices_[row] != 0) priced_rows_.push_back(static_cast<int>(row));
  }
  const std::vector<double> before = SumsBefore(row_prices_);
  for (std::vector<Use>& uses : uses_) {
    for (Use& use : uses) use.price = before[use.end] - before[use.begin];
  }
}

void AxisMemory::SetTarget(int64_t target, double penalty) {
  target_ = target;
  penalty_ = penalty;
}

int64_t AxisMemory::BytesOf(int number, int choice) {
  Kind& kind = kinds_[number];
  const auto [place, is_new] = kind.known.emplace(choice, 0);
  if (is_new) {
    const Grid grid = GridOf(store_.at(store_.Mapped(choice, kind.dims)), mesh_);
    place->second = (*kind.usage)[PositionOfGrid(grid, *kind.grids)];
  }
  return place->second;
}

int64_t AxisMemory::PriceOf(int variable, int choice) {
  double sum = 0;
  for (const Use& use : uses_[variable]) {
    if (use.price > 0) sum += use.price * static_cast<double>(BytesOf(use.kind, choice));
  }
  return std::llround(std::min(sum, 1e15));
}

int64_t AxisMemory::BytesOf(const Buffer& buffer, int tensor_choice, int node_choice) {
  if (tensor_choice < 0 || node_choice < 0) return 0;
  const int64_t bytes = BytesOf(buffer.kind, node_choice);
  if (bytes == 0) return 0;
  const AxisEdge& edge = problem_.edges[buffer.edge];
  const int64_t cost =
      store_.Cost(*edge.costs, edge.kind, store_.Mapped(tensor_choice, edge.tensor_dims),
                  store_.Mapped(node_choice, edge.node_dims));
  return IsMoved(cost) ? bytes : 0;
}

void AxisMemory::FindSteps(int variable, int from, int to) {
  steps_.clear();
  const auto add = [&](int first, int last, int64_t by) {
    if (by == 0 || first >= last) return;
    steps_.emplace_back(first, by);
    steps_.emplace_back(last, -by);
  };
  for (const Use& use : uses_[variable]) {
    add(use.begin, use.end,
        (to < 0 ? 0 : BytesOf(use.kind, to)) - (from < 0 ? 0 : BytesOf(use.kind, from)));
  }
  for (const Buffer& buffer : buffers_[variable]) {
    const AxisEdge& edge = problem_.edges[buffer.edge];
    const auto bytes = [&](int choice) {
      return BytesOf(buffer, edge.tensor == variable ? choice : choices_[edge.tensor],
                     edge.node == variable ? choice : choices_[edge.node]);
    };
    add(buffer.begin, buffer.end, bytes(to) - bytes(from));
  }
  std::sort(steps_.begin(), steps_.end());
}

template <typename See>
void AxisMemory::ForEachStretch(const See& see) const {
  int64_t by = 0;
  for (size_t i = 0; i + 1 < steps_.size(); ++i) {
    by += steps_[i].second;
    if (by != 0 && steps_[i].first < steps_[i + 1].first) {
      see(steps_[i].first, steps_[i + 1].first, by);
    }
  }
}

int64_t AxisMemory::OverBy(int begin, int end, int64_t by) const {
  int64_t over = 0;
  for (int row = begin; row < end;) {
    const int block = row / kBlock, last = std::min(end, (block + 1) * kBlock);
    if (most_[block] + std::max<int64_t>(by, 0) > target_) {
      for (; row < last; ++row) over += Over(loads_[row] + by) - Over(loads_[row]);
    }
    row = last;
  }
  return over;
}

void AxisMemory::UpdateMost(int begin, int end) {
  for (int first = begin / kBlock * kBlock; first < end; first += kBlock) {
    const int last = std::min(first + kBlock, static_cast<int>(loads_.size()));
    most_[first / kBlock] = *std::max_element(loads_.begin() + first, loads_.begin() + last);
  }
}

int64_t AxisMemory::Change(int variable, int from, int to) {
  if (from == to) return 0;
  FindSteps(variable, from, to);
  int64_t over = 0;
  double price = 0;
  ForEachStretch([&](int begin, int end, int64_t by) {
    over += OverBy(begin, end, by);
    auto row = std::lower_bound(priced_rows_.begin(), priced_rows_.end(), begin);
    for (; row != priced_rows_.end() && *row < end; ++row) {
      price += row_prices_[*row] * static_cast<double>(by);
    }
  });
  return std::llround(std::clamp(price + penalty_ * static_cast<double>(over), -1e15, 1e15));
}

void AxisMemory::Move(int variable, int from, int to) {
  if (from == to) return;
  FindSteps(variable, from, to);
  ForEachStretch([&](int begin, int end, int64_t by) {
    for (int row = begin; row < end; ++row) loads_[row] += by;
    UpdateMost(begin, end);
  });
  choices_[variable] = to;
}

int64_t AxisMemory::Cost() const {
  int64_t over = 0;
  double price = 0;
  for (size_t row = 0; row < loads_.size(); ++row) {
    over += Over(loads_[row]);
    price += row_prices_[row] * static_cast<double>(loads_[row]);
  }
  return std::llround(std::min(price + penalty_ * static_cast<double>(over), 1e17));
}

int64_t AxisMemory::Peak() const {
  return most_.empty() ? 0 : *std::max_element(most_.begin(), most_.end());
}

}  // namespace yuba::search
