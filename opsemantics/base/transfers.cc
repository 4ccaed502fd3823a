#include "opsemantics/base/transfers.h"

#include <algorithm>
#include <set>

#include "absl/types/optional.h"
#include "opsemantics/base/check.h"

namespace yuba {
namespace {

bool BoxLess(const Box& a, const Box& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](const Interval& x, const Interval& y) {
        return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
      });
}

bool TransferLess(const Transfer& a, const Transfer& b) {
  return a.source != b.source ? a.source < b.source : BoxLess(a.box, b.box);
}

bool Overlap(const Box& a, const Box& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (std::max(a[d].begin, b[d].begin) >= std::min(a[d].end, b[d].end)) return false;
  }
  return true;
}

// What moves to `destination` that needs `need`: from itself, then from each of `sources` in their
// order what none before has. Appended in the order of GatherTransfers.
void GatherInto(int destination, const Box& need, const Box& own, const std::vector<Box>& have,
                const std::vector<int>& sources, std::vector<Transfer>& transfers) {
  const size_t start = transfers.size();
  if (IsEmpty(need)) return;
  std::vector<Box> rest = {need};
  if (!IsEmpty(own)) {
    const Box local = Intersect(need, own);
    if (!IsEmpty(local)) transfers.push_back({destination, destination, local});
    rest = Subtract(need, own);
  }
  for (int source : sources) {
    if (rest.empty()) break;
    if (source == destination || IsEmpty(have[source])) continue;
    const bool unreduced = std::none_of(
        rest.begin(), rest.end(), [&](const Box& piece) { return Overlap(piece, have[source]); });
    if (unreduced) continue;
    std::vector<Box> left;
    for (const Box& piece : rest) {
      const Box common = Intersect(piece, have[source]);
      if (IsEmpty(common)) {
        left.push_back(piece);
        continue;
      }
      transfers.push_back({source, destination, common});
      for (Box& outside : Subtract(piece, have[source])) left.push_back(std::move(outside));
    }
    rest = std::move(left);
  }
  std::sort(transfers.begin() + start, transfers.end(), TransferLess);
}

std::vector<int> AllDevices(size_t count) {
  std::vector<int> devices(count);
  for (size_t d = 0; d < count; ++d) devices[d] = static_cast<int>(d);
  return devices;
}

// For each part the devices that make it, ascending.
std::vector<std::vector<int>> ProducersOfPartials(const Producers& producers) {
  std::vector<std::vector<int>> devices(producers.partials);
  for (size_t d = 0; d < producers.partial.size(); ++d) devices[producers.partial[d]].push_back(d);
  return devices;
}

int64_t RemoteVolume(const std::vector<Transfer>& transfers) {
  int64_t volume = 0;
  for (const Transfer& transfer : transfers) {
    if (transfer.source != transfer.destination) volume += Volume(transfer.box);
  }
  return volume;
}

// Numbers the distinct intervals of dimension `d`, ascending. False where they do not tile an
// interval.
bool NumberIntervals(const std::vector<const Box*>& boxes, size_t d,
                     std::vector<Interval>& distinct) {
  distinct.clear();
  for (const Box* box : boxes) distinct.push_back((*box)[d]);
  std::sort(distinct.begin(), distinct.end(), [](const Interval& a, const Interval& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (size_t i = 1; i < distinct.size(); ++i) {
    if (distinct[i].begin != distinct[i - 1].end) return false;
  }
  return true;
}

// The box that `boxes` cover exactly where they are a grid, each cell there at least once: what
// shards and written boxes are. Nullopt where they are not, or all are empty.
absl::optional<Box> GridHull(const std::vector<Box>& all, const std::vector<int>& devices) {
  std::vector<const Box*> boxes;
  for (int device : devices) {
    if (!IsEmpty(all[device])) boxes.push_back(&all[device]);
  }
  if (boxes.empty()) return absl::nullopt;
  const size_t rank = boxes[0]->size();
  Box hull(rank);
  std::vector<size_t> cell(boxes.size(), 0);
  size_t cells = 1;
  std::vector<Interval> distinct;
  for (size_t d = 0; d < rank; ++d) {
    if (!NumberIntervals(boxes, d, distinct)) return absl::nullopt;
    hull[d] = {distinct.front().begin, distinct.back().end};
    cells *= distinct.size();
    if (cells > boxes.size()) return absl::nullopt;
    for (size_t b = 0; b < boxes.size(); ++b) {
      const auto place =
          std::lower_bound(distinct.begin(), distinct.end(), (*boxes[b])[d],
                           [](const Interval& x, const Interval& y) { return x.begin < y.begin; });
      cell[b] = cell[b] * distinct.size() + (place - distinct.begin());
    }
  }
  std::vector<bool> seen(cells);
  for (size_t c : cell) seen[c] = true;
  if (std::find(seen.begin(), seen.end(), false) != seen.end()) return absl::nullopt;
  return hull;
}

int64_t CommonVolume(const Box& a, const Box& b) {
  if (IsEmpty(a) || IsEmpty(b)) return 0;
  int64_t volume = 1;
  for (size_t d = 0; d < a.size(); ++d) volume *= Intersect(a[d], b[d]).size();
  return volume;
}

// What `destination` gets from others when it needs `need`; `hull` is that of the sources' boxes.
int64_t RemoteVolumeTo(int destination, const Box& need, const Box& own,
                       const std::vector<Box>& have, const std::vector<int>& sources,
                       const absl::optional<Box>& hull) {
  if (hull.has_value()) return CommonVolume(need, *hull) - CommonVolume(need, own);
  std::vector<Transfer> transfers;
  GatherInto(destination, need, own, have, sources, transfers);
  return RemoteVolume(transfers);
}

}  // namespace

std::vector<Transfer> GatherTransfers(const std::vector<Box>& have, const std::vector<Box>& need) {
  YUBA_CHECK(have.size() == need.size());
  const std::vector<int> sources = AllDevices(have.size());
  std::vector<Transfer> transfers;
  for (size_t d = 0; d < need.size(); ++d) {
    GatherInto(d, need[d], have[d], have, sources, transfers);
  }
  return transfers;
}

std::vector<ReduceTransfer> ReduceTransfers(const Producers& producers,
                                            const std::vector<Box>& own) {
  YUBA_CHECK(producers.writes.size() == own.size() && producers.partial.size() == own.size());
  std::vector<ReduceTransfer> reductions;
  if (producers.partials == 1) {
    for (Transfer& transfer : GatherTransfers(producers.writes, own)) {
      reductions.push_back({std::move(transfer), 0});
    }
    return reductions;
  }
  const std::vector<Box> first_owners = FirstOwnerBoxes(own);
  const std::vector<std::vector<int>> devices = ProducersOfPartials(producers);
  const Box nothing = {{0, 0}};
  for (size_t d = 0; d < first_owners.size(); ++d) {
    if (IsEmpty(own[d]) || first_owners[d] != own[d]) continue;  // no home, or nothing to have
    for (int part = 0; part < producers.partials; ++part) {
      std::vector<Transfer> transfers;
      const Box& writes = producers.partial[d] == part ? producers.writes[d] : nothing;
      GatherInto(d, first_owners[d], writes, producers.writes, devices[part], transfers);
      for (Transfer& transfer : transfers) reductions.push_back({std::move(transfer), part});
    }
  }
  return reductions;
}

std::vector<Box> FirstOwnerBoxes(const std::vector<Box>& own) {
  std::vector<Box> first_owners(own.size());
  std::set<Box, bool (*)(const Box&, const Box&)> seen(BoxLess);
  for (size_t d = 0; d < own.size(); ++d) {
    if (seen.insert(own[d]).second) {
      first_owners[d] = own[d];
    } else {
      first_owners[d].assign(std::max<size_t>(own[d].size(), 1), Interval{0, 0});
    }
  }
  return first_owners;
}

std::vector<Box> BoxesInGroups(const std::vector<Box>& boxes, const std::vector<int>& group) {
  YUBA_CHECK(boxes.size() == group.size());
  std::vector<Box> grouped;
  for (size_t d = 0; d < boxes.size(); ++d) {
    grouped.push_back({{group[d], group[d] + 1}});
    grouped.back().insert(grouped.back().end(), boxes[d].begin(), boxes[d].end());
  }
  return grouped;
}

int64_t GatherVolume(const std::vector<Box>& have, const std::vector<Box>& need) {
  YUBA_CHECK(have.size() == need.size());
  const std::vector<int> sources = AllDevices(have.size());
  const absl::optional<Box> hull = GridHull(have, sources);
  int64_t volume = 0;
  for (size_t d = 0; d < need.size(); ++d) {
    volume += RemoteVolumeTo(d, need[d], have[d], have, sources, hull);
  }
  return volume;
}

int64_t ReduceVolume(const Producers& producers, const std::vector<Box>& own) {
  YUBA_CHECK(producers.writes.size() == own.size() && producers.partial.size() == own.size());
  if (producers.partials == 1) return GatherVolume(producers.writes, own);
  const std::vector<Box> first_owners = FirstOwnerBoxes(own);
  const std::vector<std::vector<int>> devices = ProducersOfPartials(producers);
  const Box nothing = {{0, 0}};
  int64_t volume = GatherVolume(first_owners, own);
  for (int part = 0; part < producers.partials; ++part) {
    const absl::optional<Box> hull = GridHull(producers.writes, devices[part]);
    for (size_t d = 0; d < first_owners.size(); ++d) {
      if (IsEmpty(first_owners[d])) continue;
      const Box& writes = producers.partial[d] == part ? producers.writes[d] : nothing;
      volume += RemoteVolumeTo(d, first_owners[d], writes, producers.writes, devices[part], hull);
    }
  }
  return volume;
}

}  // namespace yuba
