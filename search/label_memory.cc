#include "search/label_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "opsemantics/base/check.h"

namespace yuba {

LabelMemory::LabelMemory(const LabelProblem& labels, const GridProblem& grids, const Mesh& mesh,
                         CutStore* store)
    : mesh_(mesh),
      store_(*store),
      uses_(labels.variables.size()),
      target_(std::numeric_limits<int64_t>::max()) {
  const MemoryRows& rows = grids.pairwise.memory;
  AddRows(rows);
  std::map<std::tuple<GridList, Cells, int>, int> numbers;
  for (const MemoryUse& use : rows.uses) {
    const auto [least, most] = std::minmax_element(use.usage->begin(), use.usage->end());
    const auto row_at = [&](int64_t time) {
      return static_cast<int>(std::lower_bound(times_.begin(), times_.end(), time) -
                              times_.begin());
    };
    const int begin = row_at(use.begin), end = row_at(use.end);
    if (begin >= end || *most == 0) continue;
    if (*least == *most) {  // whatever the cut
      for (int row = begin; row < end; ++row) loads_[row] += *least;
      continue;
    }
    const GridList& list = grids.grids[use.variable];
    const int dims = labels.dims[use.variable];
    const auto [place, is_new] = numbers.emplace(std::make_tuple(list, use.usage, dims),
                                                 static_cast<int>(kinds_.size()));
    if (is_new) kinds_.push_back({list, use.usage, dims, {}});
    uses_[labels.variable[use.variable]].push_back({place->second, begin, end, 0});
  }
}

// A use that begins adds to what is there until something ends: only then a row can be needed.
void LabelMemory::AddRows(const MemoryRows& rows) {
  std::map<int64_t, bool> begins;  // by time: whether uses begin there, else some end
  for (const MemoryUse& use : rows.uses) {
    if (use.begin >= use.end) continue;
    begins[use.begin] = true;
    begins.emplace(use.end, false);
  }
  std::map<int64_t, bool> ends;
  for (const MemoryUse& use : rows.uses) {
    if (use.begin < use.end) ends[use.end] = true;
  }
  int64_t last = -1;  // the time of the last beginning that no end has followed
  for (const auto& [time, begin] : begins) {
    if (ends.count(time) > 0 && last >= 0) {
      times_.push_back(last);
      last = -1;
    }
    if (begin) last = time;
  }
  loads_.assign(times_.size(), 0);
  shift_.assign(times_.size(), 0);
  row_prices_.assign(times_.size(), 0);
}

void LabelMemory::SetPrices(const std::vector<MemoryPrice>& prices, double scale) {
  std::fill(row_prices_.begin(), row_prices_.end(), 0);
  priced_ = false;
  for (const MemoryPrice& price : prices) {
    // The row at which at least as much is in use.
    const auto after = std::upper_bound(times_.begin(), times_.end(), price.time);
    const auto row = after == times_.begin() ? after : after - 1;
    if (row == times_.end()) continue;
    row_prices_[row - times_.begin()] += scale * static_cast<double>(price.price) / kPriceUnits;
    priced_ = true;
  }
  std::vector<double> before(row_prices_.size() + 1, 0);
  for (size_t row = 0; row < row_prices_.size(); ++row) {
    before[row + 1] = before[row] + row_prices_[row];
  }
  for (std::vector<Use>& uses : uses_) {
    for (Use& use : uses) use.price = before[use.end] - before[use.begin];
  }
}

void LabelMemory::SetTarget(int64_t target, double penalty) {
  target_ = target;
  penalty_ = penalty;
}

int64_t LabelMemory::BytesOf(int number, int cut) {
  Kind& kind = kinds_[number];
  const auto [place, is_new] = kind.known.emplace(cut, 0);
  if (is_new) {
    const Grid grid = GridOf(store_.at(store_.Mapped(cut, kind.dims)), mesh_);
    const auto found = std::lower_bound(kind.grids->begin(), kind.grids->end(), grid);
    YUBA_CHECK(found != kind.grids->end() && *found == grid);
    place->second = (*kind.usage)[found - kind.grids->begin()];
  }
  return place->second;
}

int64_t LabelMemory::PriceOf(int variable, int cut) {
  double sum = 0;
  for (const Use& use : uses_[variable]) {
    if (use.price > 0) sum += use.price * static_cast<double>(BytesOf(use.kind, cut));
  }
  return std::llround(std::min(sum, 1e15));
}

int64_t LabelMemory::Change(int variable, int from, int to) {
  if (from == to) return 0;
  int begin = std::numeric_limits<int>::max(), end = 0;
  for (const Use& use : uses_[variable]) {
    const int64_t by = (to < 0 ? 0 : BytesOf(use.kind, to)) -
                       (from < 0 ? 0 : BytesOf(use.kind, from));
    if (by == 0) continue;
    for (int row = use.begin; row < use.end; ++row) shift_[row] += by;
    begin = std::min(begin, use.begin);
    end = std::max(end, use.end);
  }
  int64_t over = 0;
  double price = 0;
  for (int row = begin; row < end; ++row) {
    over += Over(loads_[row] + shift_[row]) - Over(loads_[row]);
    price += row_prices_[row] * static_cast<double>(shift_[row]);
    shift_[row] = 0;
  }
  return std::llround(std::clamp(price + penalty_ * static_cast<double>(over), -1e15, 1e15));
}

void LabelMemory::Move(int variable, int from, int to) {
  if (from == to) return;
  for (const Use& use : uses_[variable]) {
    const int64_t by = (to < 0 ? 0 : BytesOf(use.kind, to)) -
                       (from < 0 ? 0 : BytesOf(use.kind, from));
    if (by == 0) continue;
    for (int row = use.begin; row < use.end; ++row) loads_[row] += by;
  }
}

int64_t LabelMemory::Cost() const {
  int64_t over = 0;
  double price = 0;
  for (size_t row = 0; row < loads_.size(); ++row) {
    over += Over(loads_[row]);
    price += row_prices_[row] * static_cast<double>(loads_[row]);
  }
  return std::llround(std::min(price + penalty_ * static_cast<double>(over), 1e17));
}

int64_t LabelMemory::Peak() const {
  return loads_.empty() ? 0 : *std::max_element(loads_.begin(), loads_.end());
}

}  // namespace yuba
