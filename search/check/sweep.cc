#include "search/check/sweep.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "opsemantics/base/inner_loop.h"
#include "opsemantics/base/status.h"
#include "search/check/grids.h"

namespace yuba::search {
namespace {

constexpr int64_t kMostCells = int64_t{1} << 27;  // of one table
constexpr Sweep::Limits kBothWays = {int64_t{1} << 33, int64_t{1} << 27};
constexpr size_t kMostInScope = 1000;
constexpr int64_t kGone = std::numeric_limits<int64_t>::max() / 64;  // can be added a few times

YUBA_INNER_LOOP void AddRow(const int64_t* row, int64_t stride, int size, int64_t* sum) {
  for (int i = 0; i < size; ++i) sum[i] += row[i * stride];
}

YUBA_INNER_LOOP void LowerTo(const int64_t* row, int size, int64_t* least) {
  for (int i = 0; i < size; ++i) least[i] = std::min(least[i], row[i]);
}

YUBA_INNER_LOOP void LowerToRest(const int64_t* sum, const int64_t* up, int size, int64_t* least) {
  for (int i = 0; i < size; ++i) least[i] = std::min(least[i], sum[i] - up[i]);
}

// Tables as rows along the last element of a joint scope, while the other elements step through all
// their assignments.
class RowsOfTables {
 public:
  explicit RowsOfTables(std::vector<int> sizes) : sizes_(std::move(sizes)), value_(sizes_.size()) {}

  // By place in `scope` its place in the joint scope, where the last element is number
  // sizes.size(), and how many values it has.
  void Add(const std::vector<int>& places, const std::vector<int>& counts, const int64_t* cells) {
    Table table = {cells, std::vector<int64_t>(sizes_.size() + 1, 0), 0};
    int64_t stride = 1;
    for (size_t i = places.size(); i-- > 0;) {
      table.strides[places[i]] = stride;
      stride *= counts[i];
    }
    tables_.push_back(std::move(table));
  }

  size_t size() const { return tables_.size(); }
  const int64_t* Row(size_t table) const { return tables_[table].cells + tables_[table].at; }
  int64_t at(size_t table) const { return tables_[table].at; }
  int64_t stride(size_t table) const { return tables_[table].strides.back(); }

  void Next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      const bool wraps = ++value_[d] == sizes_[d];
      if (wraps) value_[d] = 0;
      for (Table& table : tables_) {
        table.at += wraps ? -(sizes_[d] - 1) * table.strides[d] : table.strides[d];
      }
      if (!wraps) return;
    }
  }

 private:
  struct Table {
    const int64_t* cells;
    std::vector<int64_t> strides;
    int64_t at;
  };

  const std::vector<int> sizes_;
  std::vector<int> value_;
  std::vector<Table> tables_;
};

}  // namespace

Sweep::Sweep(const std::vector<int>& order, const Renamings& values)
    : values_(values), rank_(values.size(), static_cast<int>(order.size())) {
  for (const int element : order) {
    rank_[element] = static_cast<int>(steps_.size());
    steps_.emplace_back();
    steps_.back().element = element;
  }
}

void Sweep::AddScope(SweepStep* step, const std::vector<int>& scope) const {
  for (int e : scope) {
    if (e != step->element && !std::count(step->scope.begin(), step->scope.end(), e)) {
      step->scope.push_back(e);
    }
  }
}

int Sweep::Place(CheckTable table) {
  int first = rank_[table.scope[0]];
  for (int e : table.scope) first = std::min(first, rank_[e]);
  if (first == static_cast<int>(steps_.size())) {
    left_.push_back(std::move(table));
    return -1;
  }
  AddScope(&steps_[first], table.scope);
  steps_[first].tables.push_back(std::move(table));
  return first;
}

absl::Status Sweep::Up(const Limits& limits, const Stop& stop) {
  for (size_t s = 0; s < steps_.size(); ++s) {
    YUBA_RETURN_IF_ERROR(GoOn(stop));
    YUBA_RETURN_IF_ERROR(Up(static_cast<int>(s), limits));
  }
  return absl::OkStatus();
}

absl::Status Sweep::Run(int64_t limit, const Stop& stop) {
  YUBA_RETURN_IF_ERROR(Up(kBothWays, stop));
  for (size_t s = steps_.size(); s-- > 0;) {
    YUBA_RETURN_IF_ERROR(GoOn(stop));
    Down(&steps_[s], limit);
  }
  return absl::OkStatus();
}

absl::Status Sweep::Up(int s, const Limits& limits) {
  SweepStep& step = steps_[s];
  std::stable_sort(step.scope.begin(), step.scope.end(),
                   [this](int a, int b) { return rank_[a] > rank_[b]; });
  YUBA_ASSIGN_OR_RETURN(step.up, Least(step, limits));
  if (step.scope.empty()) {
    least_ += (*step.up)[0];
  } else if (rank_[step.scope.back()] == static_cast<int>(steps_.size())) {
    left_.push_back({step.scope, step.up});
  } else {
    SweepStep& next = steps_[rank_[step.scope.back()]];
    next.before.push_back(s);
    AddScope(&next, step.scope);
  }
  return absl::OkStatus();
}

absl::StatusOr<CheckTable::Cells> Sweep::Least(const SweepStep& step, const Limits& limits) {
  std::vector<CheckTable> tables = step.tables;
  for (int before : step.before) tables.push_back({steps_[before].scope, steps_[before].up});
  if (tables.empty()) return std::make_shared<const std::vector<int64_t>>(1, 0);
  const auto number = [](const auto& pointer) { return reinterpret_cast<intptr_t>(pointer.get()); };
  std::vector<int64_t> key = {number(values_[step.element])};
  int64_t cells = 1;
  for (int e : step.scope) {
    key.push_back(number(values_[e]));
    if (__builtin_mul_overflow(cells, int64_t{Values(e)}, &cells) || cells > kMostCells) {
      return ProofError("the proof needs a table of more than ", kMostCells, " cells");
    }
  }
  for (const CheckTable& table : tables) {
    key.push_back(number(table.cells));
    const std::vector<int> places = PlacesIn(step.scope, table.scope);
    key.insert(key.end(), places.begin(), places.end());
    key.push_back(-1);
  }
  CheckTable::Cells& known = done_[key];
  if (known != nullptr) return known;
  cells_ += cells;
  // Of values of the scope's first element that can be renamed to one another one is looked at.
  const size_t renamings = step.scope.empty() ? 1 : values_[step.scope[0]]->size();
  sums_ += cells * Values(step.element) / static_cast<int64_t>(renamings);
  if (sums_ > limits.sums || cells_ > limits.cells || step.scope.size() > kMostInScope) {
    return ProofError("the proof needs too many tables, or tables of too many");
  }
  known = std::make_shared<const std::vector<int64_t>>(
      LeastSums(step.scope, step.element, tables, values_));
  return known;
}

// Also gives each earlier step that meets here its `down`: the least cost of all that its result
// does not contain. The scopes of those steps all end in this element.
void Sweep::Down(SweepStep* step, int64_t limit) {
  if (step->scope.empty()) {
    step->down = std::make_shared<const std::vector<int64_t>>(1, least_ - (*step->up)[0]);
  }
  std::vector<int> joint = step->scope;
  joint.push_back(step->element);
  RowsOfTables rows(CountsOf(step->scope));
  std::vector<std::vector<int64_t>> rest;
  for (const int b : step->before) {
    const SweepStep& before = steps_[b];
    rows.Add(PlacesIn(joint, before.scope), CountsOf(before.scope), before.up->data());
    rest.emplace_back(before.up->size(), kGone);
  }
  for (const CheckTable& table : step->tables) {
    rows.Add(PlacesIn(joint, table.scope), CountsOf(table.scope), table.cells->data());
  }
  const int size = Values(step->element);
  step->of_value.assign(size, kGone);
  std::vector<int64_t> sum(size);
  for (size_t at = 0; at < step->down->size(); ++at, rows.Next()) {
    const int64_t outside = (*step->down)[at];
    if (outside > limit - (*step->up)[at]) continue;
    std::fill(sum.begin(), sum.end(), outside);
    for (size_t t = 0; t < rows.size(); ++t) AddRow(rows.Row(t), rows.stride(t), size, sum.data());
    LowerTo(sum.data(), size, step->of_value.data());
    for (size_t b = 0; b < rest.size(); ++b) {
      LowerToRest(sum.data(), rows.Row(b), size, rest[b].data() + rows.at(b));
    }
  }
  for (size_t b = 0; b < rest.size(); ++b) {
    steps_[step->before[b]].down = std::make_shared<const std::vector<int64_t>>(std::move(rest[b]));
  }
}

std::vector<int> Sweep::CountsOf(const std::vector<int>& elements) const {
  std::vector<int> counts;
  for (const int element : elements) counts.push_back(Values(element));
  return counts;
}

}  // namespace yuba::search
