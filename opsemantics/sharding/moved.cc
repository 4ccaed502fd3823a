#include "opsemantics/sharding/moved.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/base/check.h"

namespace yuba {
namespace {

// The boxes of some devices, from which others take what is nearest.
class Sources {
 public:
  // `devices`: those that offer their boxes, ascending. All arguments must outlive this.
  Sources(const std::vector<Box>& boxes, std::vector<int> devices, const std::vector<int>& groups)
      : boxes_(boxes), devices_(std::move(devices)), groups_(groups) {
    const auto empty = [&](int device) { return IsEmpty(boxes_[device]); };
    devices_.erase(std::remove_if(devices_.begin(), devices_.end(), empty), devices_.end());
    if (!devices_.empty()) disjoint_ = FindCells();
  }

  // Adds the elements of `reads` that come to `device` from others, and their messages. `own`: what
  // the device has itself.
  void AddReceived(int device, const Box& reads, const Box& own, Moved& received) const {
    if (devices_.empty() || IsEmpty(reads)) return;
    if (disjoint_) {
      AddCells(device, reads, own, received);
    } else {
      AddInTurn(device, reads, own, received);
    }
  }

 private:
  // A box, and by kind but for the last the groups in which some device has it, ascending.
  struct Cell {
    const Box* box = nullptr;
    std::vector<std::vector<int>> groups;
  };

  // Numbers the intervals along each dimension; false where two overlap without being equal.
  bool FindCells() {
    const size_t rank = boxes_[devices_[0]].size();
    intervals_.resize(rank);
    for (size_t d = 0; d < rank; ++d) {
      std::vector<Interval>& distinct = intervals_[d];
      for (const int device : devices_) distinct.push_back(boxes_[device][d]);
      std::sort(distinct.begin(), distinct.end(), [](const Interval& a, const Interval& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
      });
      distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
      for (size_t i = 1; i < distinct.size(); ++i) {
        if (distinct[i].begin < distinct[i - 1].end) return false;
      }
    }
    for (const int device : devices_) {
      size_t place = 0;
      for (size_t d = 0; d < rank; ++d) {
        place = place * intervals_[d].size() + FirstFrom(d, boxes_[device][d].begin);
      }
      Cell& cell = cells_[place];
      cell.box = &boxes_[device];
      cell.groups.resize(groups_.size() - 1);
      for (size_t kind = 0; kind + 1 < groups_.size(); ++kind) {
        std::vector<int>& having = cell.groups[kind];
        const int group = device / groups_[kind];
        if (having.empty() || having.back() != group) having.push_back(group);
      }
    }
    return true;
  }

  // The first interval of dimension d that ends behind `begin`.
  size_t FirstFrom(size_t d, int64_t begin) const {
    const auto ends_before = [](const Interval& interval, int64_t at) {
      return interval.end <= at;
    };
    return std::lower_bound(intervals_[d].begin(), intervals_[d].end(), begin, ends_before) -
           intervals_[d].begin();
  }

  void AddCells(int device, const Box& reads, const Box& own, Moved& received) const {
    const size_t rank = reads.size();
    std::vector<size_t> first(rank), last(rank);  // of the intervals that `reads` meets
    for (size_t d = 0; d < rank; ++d) {
      first[d] = last[d] = FirstFrom(d, reads[d].begin);
      while (last[d] < intervals_[d].size() && intervals_[d][last[d]].begin < reads[d].end) {
        ++last[d];
      }
      if (first[d] == last[d]) return;
    }
    std::vector<size_t> at = first;
    while (true) {
      size_t place = 0;
      for (size_t d = 0; d < rank; ++d) place = place * intervals_[d].size() + at[d];
      const auto cell = cells_.find(place);
      if (cell != cells_.end() && *cell->second.box != own) {
        AddPart(KindTo(device, cell->second), Volume(Intersect(reads, *cell->second.box)),
                received);
      }
      size_t d = rank;
      while (d > 0 && ++at[d - 1] == last[d - 1]) at[d - 1] = first[d - 1], --d;
      if (d == 0) return;
    }
  }

  size_t KindTo(int device, const Cell& cell) const {
    for (size_t kind = 0; kind + 1 < groups_.size(); ++kind) {
      const std::vector<int>& having = cell.groups[kind];
      if (std::binary_search(having.begin(), having.end(), device / groups_[kind])) return kind;
    }
    return groups_.size() - 1;
  }

  static void AddPart(size_t kind, int64_t elements, Moved& received) {
    received.bytes[kind] += elements;
    received.messages[kind] += 1;
  }

  // Boxes that overlap: from each source in turn, the nearest first, what is still missing.
  void AddInTurn(int device, const Box& reads, const Box& own, Moved& received) const {
    std::vector<Box> missing = {reads};
    if (!IsEmpty(own)) missing = Subtract(reads, own);
    for (size_t kind = 0; kind < groups_.size(); ++kind) {
      const int group = device / groups_[kind];
      for (const int source : devices_) {
        if (source == device || source / groups_[kind] != group || missing.empty()) continue;
        int64_t taken = 0;
        std::vector<Box> still_missing;
        for (const Box& box : missing) {
          const Box common = Intersect(box, boxes_[source]);
          if (!IsEmpty(common)) taken += Volume(common);
          for (Box& outside : Subtract(box, boxes_[source])) {
            still_missing.push_back(std::move(outside));
          }
        }
        missing = std::move(still_missing);
        if (taken > 0) AddPart(kind, taken, received);
      }
    }
  }

  const std::vector<Box>& boxes_;
  std::vector<int> devices_;
  const std::vector<int>& groups_;
  bool disjoint_ = false;
  std::vector<std::vector<Interval>> intervals_;  // [dimension], ascending, where disjoint
  std::map<size_t, Cell> cells_;                  // by place in the grid of intervals
};

std::vector<int> AllDevices(size_t count) {
  std::vector<int> devices(count);
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

void Scale(int64_t size, Moved& moved) {
  for (int64_t& bytes : moved.bytes) bytes *= size;
}

// [device]: how many devices of its groups own its box, [kind].
std::vector<std::vector<int64_t>> OwnersNear(const std::vector<Box>& own,
                                             const std::vector<int>& groups) {
  const auto less = [](const Box& a, const Box& b) {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(), [](const Interval& x, const Interval& y) {
          return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
        });
  };
  std::vector<std::vector<int64_t>> owners(own.size(), std::vector<int64_t>(groups.size()));
  for (size_t kind = 0; kind < groups.size(); ++kind) {
    std::map<Box, int64_t, decltype(less)> count(less);
    const size_t size = groups[kind];
    for (size_t first = 0; first < own.size(); first += size) {
      count.clear();
      for (size_t d = first; d < first + size; ++d) ++count[own[d]];
      for (size_t d = first; d < first + size; ++d) owners[d][kind] = count[own[d]];
    }
  }
  return owners;
}

}  // namespace

Moved& Moved::operator+=(const Moved& other) {
  for (size_t kind = 0; kind < bytes.size(); ++kind) {
    bytes[kind] += other.bytes[kind];
    messages[kind] += other.messages[kind];
  }
  return *this;
}

std::vector<Moved> GatherMoved(const std::vector<Box>& has, const std::vector<Box>& reads,
                               const std::vector<int>& groups, int64_t size) {
  YUBA_CHECK(has.size() == reads.size());
  const Sources sources(has, AllDevices(has.size()), groups);
  std::vector<Moved> moved(has.size());
  for (size_t d = 0; d < has.size(); ++d) {
    sources.AddReceived(static_cast<int>(d), reads[d], has[d], moved[d]);
    Scale(size, moved[d]);
  }
  return moved;
}

std::vector<Moved> ReduceMoved(const Producers& producers, const std::vector<Box>& own,
                               const std::vector<int>& groups, int64_t partial_size, int64_t size) {
  YUBA_CHECK(producers.writes.size() == own.size() && producers.partial.size() == own.size());
  if (producers.partials == 1) return GatherMoved(producers.writes, own, groups, size);
  std::vector<std::vector<int>> devices(producers.partials);  // [partial]: those that write it
  for (size_t d = 0; d < own.size(); ++d) {
    devices[producers.partial[d]].push_back(static_cast<int>(d));
  }
  std::vector<Moved> moved(own.size());
  const Box nothing = {{0, 0}};
  for (int partial = 0; partial < producers.partials; ++partial) {
    const Sources sources(producers.writes, std::move(devices[partial]), groups);
    for (size_t d = 0; d < own.size(); ++d) {
      const Box& written = producers.partial[d] == partial ? producers.writes[d] : nothing;
      sources.AddReceived(static_cast<int>(d), own[d], written, moved[d]);
    }
  }
  const std::vector<std::vector<int64_t>> owners = OwnersNear(own, groups);
  for (size_t d = 0; d < own.size(); ++d) {
    const int64_t all = owners[d].back(), elements = IsEmpty(own[d]) ? 0 : Volume(own[d]);
    int64_t nearer = 1;  // owners that are nearer, the device among them
    for (size_t kind = 0; kind < groups.size(); ++kind) {
      moved[d].bytes[kind] = CeilDiv(moved[d].bytes[kind], all) * partial_size;
      const int64_t here = elements == 0 ? 0 : owners[d][kind] - nearer;
      moved[d].bytes[kind] += CeilDiv(elements * here, all) * size;
      moved[d].messages[kind] += here;
      nearer += here;
    }
  }
  return moved;
}

}  // namespace yuba
