#include "compiler/spmd/recognise.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/spmd/tables.h"
#include "runtime/program/program.pb.h"
#include "runtime/program/tables.h"

namespace yuba::compiler {
namespace {

using Axes = std::vector<int>;
using Boxes = std::vector<const Box*>;

// An exchange whose boxes form a finer grid than this many cells is left plain.
constexpr size_t kMostCells = size_t{1} << 20;

// The devices whose coordinates are 0 on all axes other than these, one for each combination of
// coordinates on these.
std::vector<int> DevicesAlong(const Mesh& mesh, const Axes& axes) {
  std::vector<int> devices = {0};
  int stride = 1;
  for (int axis = static_cast<int>(mesh.axes.size()); axis-- > 0;) {
    const int size = mesh.axes[axis].size;
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
      const size_t before = devices.size();
      for (size_t i = before; i < before * size; ++i) {
        devices.push_back(devices[i - before] + stride);
      }
    }
    stride *= size;
  }
  return devices;
}

Axes OtherAxes(const Mesh& mesh, const Axes& axes) {
  Axes others;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
  }
  return others;
}

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

// What one group of devices, which differ on the collective's axes only, offers and receives.
struct Sides {
  Boxes from, to;       // [member]
  std::set<int> parts;  // the numbers of the partials that the group's members wrote
};

bool IsAllGather(const Sides& s) { return AllEqual(s.to) && SameUnion(s.from, {s.to[0]}); }

bool IsPermute(const Sides& s) {
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

bool IsAllToAll(const Sides& s) { return SameUnion(s.from, s.to); }

bool IsReduceScatter(const Sides& s) {
  return AllEqual(s.from) && s.parts.size() == s.from.size() && SameUnion({s.from[0]}, s.to);
}

bool IsAllReduce(const Sides& s) {
  return AllEqual(s.from) && s.parts.size() == s.from.size() && AllEqual(s.to) &&
         *s.from[0] == *s.to[0];
}

struct Kind {
  program::Collective collective;
  bool (*holds)(const Sides&);
};

class Recogniser {
 public:
  Recogniser(const Mesh& mesh, program::Exchange& exchange)
      : mesh_(mesh),
        exchange_(exchange),
        from_(BoxesOn(mesh, exchange.from())),
        to_(BoxesOn(mesh, exchange.to())) {}

  void Mark() {
    if (exchange_.from_first_only() || exchange_.has_group()) return;
    if (exchange_.partials() == 1 && IsLocal()) return;
    const std::vector<Kind> whole = {{program::ALL_GATHER, IsAllGather},
                                     {program::PERMUTE, IsPermute},
                                     {program::ALL_TO_ALL, IsAllToAll}},
                            partial = {{program::REDUCE_SCATTER, IsReduceScatter},
                                       {program::ALL_REDUCE, IsAllReduce}};
    for (const Axes& axes : Candidates()) {
      if (MarkOver(axes, exchange_.partials() > 1 ? partial : whole)) return;
    }
  }

 private:
  bool IsLocal() const {
    for (size_t device = 0; device < from_.size(); ++device) {
      if (!Contains(from_[device], to_[device])) return false;
    }
    return true;
  }

  void AddAxes(const program::Bound& bound, std::set<int>& axes) const {
    axes.insert(bound.axes().begin(), bound.axes().end());
  }

  // The subsets of the axes on which the exchange depends, small ones first, so that a smallest set
  // of axes over which something moves is found.
  std::vector<Axes> Candidates() const {
    std::set<int> used;
    for (const program::Box* box : {&exchange_.from(), &exchange_.to()}) {
      for (const program::Range& range : box->dims()) {
        AddAxes(range.begin(), used);
        AddAxes(range.end(), used);
      }
    }
    AddAxes(exchange_.partial(), used);
    const Axes axes(used.begin(), used.end());
    std::vector<Axes> subsets;
    for (uint32_t bits = 1; bits < (uint32_t{1} << axes.size()); ++bits) {
      subsets.emplace_back();
      for (size_t i = 0; i < axes.size(); ++i) {
        if (bits >> i & 1) subsets.back().push_back(axes[i]);
      }
    }
    std::stable_sort(subsets.begin(), subsets.end(),
                     [](const Axes& a, const Axes& b) { return a.size() < b.size(); });
    return subsets;
  }

  // Marks the exchange as the first of `kinds` that holds for every group over these axes; false
  // where none does.
  bool MarkOver(const Axes& axes, std::vector<Kind> kinds) {
    const std::vector<int> along = DevicesAlong(mesh_, axes);
    if (exchange_.partials() > 1 && static_cast<int>(along.size()) != exchange_.partials())
      return false;
    for (const int first : DevicesAlong(mesh_, OtherAxes(mesh_, axes))) {
      Sides sides;
      for (const int offset : along) {
        const int device = first + offset;
        sides.from.push_back(&from_[device]);
        sides.to.push_back(&to_[device]);
        if (exchange_.partials() > 1)
          sides.parts.insert(ValueOn(mesh_, exchange_.partial(), device));
      }
      kinds.erase(std::remove_if(kinds.begin(), kinds.end(),
                                 [&](const Kind& kind) { return !kind.holds(sides); }),
                  kinds.end());
      if (kinds.empty()) return false;
    }
    exchange_.set_collective(kinds[0].collective);
    exchange_.mutable_axes()->Add(axes.begin(), axes.end());
    return true;
  }

  const Mesh& mesh_;
  program::Exchange& exchange_;
  const std::vector<Box> from_, to_;
};

}  // namespace

void RecogniseCollectives(program::Program& program) {
  const Mesh mesh = MeshOf(program);
  for (program::Stage& stage : *program.mutable_stages()) {
    for (program::Instruction& instruction : *stage.mutable_instructions()) {
      if (!instruction.has_exchange()) continue;
      instruction.mutable_exchange()->clear_collective();
      instruction.mutable_exchange()->clear_axes();
      Recogniser(mesh, *instruction.mutable_exchange()).Mark();
    }
  }
}

}  // namespace yuba::compiler
