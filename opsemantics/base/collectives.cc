#include "opsemantics/base/collectives.h"

#include <algorithm>
#include <utility>

#include "absl/types/optional.h"

namespace yuba {
namespace {

using Boxes = std::vector<const Box*>;

// Boxes that form a finer grid than this many cells are no collective's.
constexpr size_t kMostCells = size_t{1} << 20;

constexpr absl::string_view kPlain = "plain";

int64_t TotalVolume(const Boxes& boxes) {
  int64_t total = 0;
  for (const Box* box : boxes) total += Volume(*box);
  return total;
}

// The grid whose lines, in each dimension, are the begins and ends of all boxes `a` and `b`. Each
// of these boxes is a set of its cells.
class Cells {
 public:
  Cells(const Boxes& a, const Boxes& b) : lines_(a[0]->size()) {
    for (const Boxes* boxes : {&a, &b}) {
      for (const Box* box : *boxes) {
        for (size_t d = 0; d < box->size(); ++d) {
          lines_[d].push_back((*box)[d].begin);
          lines_[d].push_back((*box)[d].end);
        }
      }
    }
    for (std::vector<int64_t>& lines : lines_) {
      std::sort(lines.begin(), lines.end());
      lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
      count_ = std::min(kMostCells + 1, count_ * lines.size());
    }
  }

  // [cell]: whether it lies in one of `boxes`. Nothing where a cell lies in two of them, or where
  // the grid has more than kMostCells cells.
  absl::optional<std::vector<bool>> In(const Boxes& boxes) const {
    if (count_ > kMostCells) return absl::nullopt;
    std::vector<bool> cells(count_, false);
    for (const Box* box : boxes) {
      if (IsEmpty(*box)) continue;
      Box lines;
      for (size_t d = 0; d < box->size(); ++d) {
        lines.push_back({LineOf(d, (*box)[d].begin), LineOf(d, (*box)[d].end)});
      }
      bool free = true;
      ForEachPoint(lines, [&](const std::vector<int64_t>& point) {
        size_t cell = 0;
        for (size_t d = 0; d < point.size(); ++d) cell = cell * lines_[d].size() + point[d];
        free = free && !cells[cell];
        cells[cell] = true;
      });
      if (!free) return absl::nullopt;
    }
    return cells;
  }

 private:
  int64_t LineOf(size_t d, int64_t at) const {
    return std::lower_bound(lines_[d].begin(), lines_[d].end(), at) - lines_[d].begin();
  }

  std::vector<std::vector<int64_t>> lines_;  // [dimension]: ascending, each once
  size_t count_ = 1;  // cells, with a row of unused ones behind the last line of each dimension
};

// Whether the boxes `a` are disjoint, the boxes `b` too, and both have the same union.
bool SameUnion(const Boxes& a, const Boxes& b) {
  if (TotalVolume(a) != TotalVolume(b)) return false;  // cheap, and most candidates end here
  const Cells cells(a, b);
  const auto in_a = cells.In(a);
  return in_a.has_value() && in_a == cells.In(b);
}

bool AllEqual(const Boxes& boxes) {
  return std::all_of(boxes.begin(), boxes.end(), [&](const Box* b) { return *b == *boxes[0]; });
}

bool IsAllGather(const CollectiveSides& s) {
  return AllEqual(s.to) && SameUnion(s.from, {s.to[0]});
}

bool IsPermute(const CollectiveSides& s) {
  if (TotalVolume(s.from) != TotalVolume(s.to)) return false;
  const auto sorted = [](Boxes boxes) {
    const auto bounds = [](const Interval& i) { return std::pair(i.begin, i.end); };
    std::sort(boxes.begin(), boxes.end(), [&](const Box* a, const Box* b) {
      return std::lexicographical_compare(
          a->begin(), a->end(), b->begin(), b->end(),
          [&](const Interval& x, const Interval& y) { return bounds(x) < bounds(y); });
    });
    return boxes;
  };
  const Boxes from = sorted(s.from), to = sorted(s.to);
  return std::equal(from.begin(), from.end(), to.begin(),
                    [](const Box* a, const Box* b) { return *a == *b; }) &&
         Cells(from, to).In(from).has_value();
}

bool IsAllToAll(const CollectiveSides& s) { return SameUnion(s.from, s.to); }

// Whether every member wrote a partial of its own of all that the members own together.
bool EachHasAPartial(const CollectiveSides& s) {
  return AllEqual(s.from) && s.partials.size() == s.from.size();
}

bool IsReduceScatter(const CollectiveSides& s) {
  return EachHasAPartial(s) && SameUnion({s.from[0]}, s.to);
}

bool IsAllReduce(const CollectiveSides& s) {
  return EachHasAPartial(s) && AllEqual(s.to) && *s.from[0] == *s.to[0];
}

// A permute is an all-to-all too, and comes before it.
constexpr Collective kCollectives[] = {
    {"all_gather", false, IsAllGather}, {"permute", false, IsPermute},
    {"all_to_all", false, IsAllToAll},  {"reduce_scatter", true, IsReduceScatter},
    {"all_reduce", true, IsAllReduce},
};

}  // namespace

absl::Span<const Collective> Collectives() { return kCollectives; }

int CollectiveNumber(absl::string_view name) {
  if (name == kPlain) return 0;
  for (const Collective& row : kCollectives) {
    if (name == row.name) return static_cast<int>(&row - kCollectives) + 1;
  }
  return -1;
}

const Collective* CollectiveAt(int number) {
  if (number < 1 || number > static_cast<int>(Collectives().size())) return nullptr;
  return &kCollectives[number - 1];
}

absl::string_view CollectiveName(int number) {
  return number == 0 ? kPlain : CollectiveAt(number)->name;
}

}  // namespace yuba
