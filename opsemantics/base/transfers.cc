#include "opsemantics/base/transfers.h"

#include <algorithm>
#include <map>
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

// Appends the transfers that bring `reads` to `destination`: from itself, where its box `own` has
// elements, then from each of `sources` in turn the elements that are still missing. In the order
// of GatherTransfers.
void GatherInto(int destination, const Box& reads, const Box& own, const std::vector<Box>& has,
                const std::vector<int>& sources, std::vector<Transfer>& transfers) {
  const size_t start = transfers.size();
  if (IsEmpty(reads)) return;
  std::vector<Box> missing = {reads};
  if (!IsEmpty(own)) {
    const Box local = Intersect(reads, own);
    if (!IsEmpty(local)) transfers.push_back({destination, destination, local});
    missing = Subtract(reads, own);
  }
  for (int source : sources) {
    if (missing.empty()) break;
    if (source == destination || IsEmpty(has[source])) continue;
    const bool disjoint = std::none_of(missing.begin(), missing.end(),
                                       [&](const Box& box) { return Overlap(box, has[source]); });
    if (disjoint) continue;
    std::vector<Box> still_missing;
    for (const Box& box : missing) {
      const Box common = Intersect(box, has[source]);
      if (IsEmpty(common)) {
        still_missing.push_back(box);
        continue;
      }
      transfers.push_back({source, destination, common});
      for (Box& outside : Subtract(box, has[source])) still_missing.push_back(std::move(outside));
    }
    missing = std::move(still_missing);
  }
  std::sort(transfers.begin() + start, transfers.end(), TransferLess);
}

std::vector<int> AllDevices(size_t count) {
  std::vector<int> devices(count);
  for (size_t d = 0; d < count; ++d) devices[d] = static_cast<int>(d);
  return devices;
}

// [partial]: the devices that write it, ascending.
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

// Puts the distinct intervals of dimension `d` into `distinct`, ascending. False where they do not
// tile an interval.
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

// The box that the boxes of these devices tile, where they form a grid whose every cell is there at
// least once, as shards and written boxes do. Nullopt where they form none, or all are empty.
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

// The elements of `reads` that come to `destination` from other devices. `hull` is GridHull of the
// sources' boxes: where there is one, everything in it that the device lacks comes.
int64_t RemoteVolumeTo(int destination, const Box& reads, const Box& own,
                       const std::vector<Box>& has, const std::vector<int>& sources,
                       const absl::optional<Box>& hull) {
  if (hull.has_value()) return CommonVolume(reads, *hull) - CommonVolume(reads, own);
  std::vector<Transfer> transfers;
  GatherInto(destination, reads, own, has, sources, transfers);
  return RemoteVolume(transfers);
}

}  // namespace

std::vector<Transfer> GatherTransfers(const std::vector<Box>& has, const std::vector<Box>& reads) {
  YUBA_CHECK(has.size() == reads.size());
  const std::vector<int> sources = AllDevices(has.size());
  std::vector<Transfer> transfers;
  for (size_t d = 0; d < reads.size(); ++d) {
    GatherInto(d, reads[d], has[d], has, sources, transfers);
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
    if (IsEmpty(own[d]) || first_owners[d] != own[d]) continue;  // no first owner, or owns nothing
    for (int partial = 0; partial < producers.partials; ++partial) {
      std::vector<Transfer> transfers;
      const Box& writes = producers.partial[d] == partial ? producers.writes[d] : nothing;
      GatherInto(d, first_owners[d], writes, producers.writes, devices[partial], transfers);
      for (Transfer& transfer : transfers) reductions.push_back({std::move(transfer), partial});
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

namespace {

// The devices that own each box, ascending.
std::vector<std::vector<int>> OwnersOfBoxes(const std::vector<Box>& own) {
  std::map<Box, int, bool (*)(const Box&, const Box&)> numbers(BoxLess);
  std::vector<std::vector<int>> owners;
  for (size_t d = 0; d < own.size(); ++d) {
    const auto [found, is_new] = numbers.emplace(own[d], static_cast<int>(owners.size()));
    if (is_new) owners.emplace_back();
    owners[found->second].push_back(static_cast<int>(d));
  }
  return owners;
}

// The box in as many slices, along the first dimension that divides into them, else along the
// longest; nothing where that is too short.
std::vector<Box> Slices(const Box& box, int64_t count) {
  size_t along = 0;
  for (size_t d = 0; d < box.size(); ++d) {
    if (box[d].size() % count == 0) {
      along = d;
      break;
    }
    if (box[d].size() > box[along].size()) along = d;
  }
  if (box.empty() || box[along].size() < count) return {};
  std::vector<Box> slices(count, box);
  for (int64_t k = 0; k < count; ++k) {
    const int64_t begin = box[along].begin, size = box[along].size();
    slices[k][along] = {begin + size * k / count, begin + size * (k + 1) / count};
  }
  return slices;
}

}  // namespace

absl::optional<std::vector<Box>> SliceOwnerBoxes(const Producers& producers,
                                                 const std::vector<Box>& own) {
  YUBA_CHECK(producers.writes.size() == own.size());
  std::vector<Box> slice_owners = FirstOwnerBoxes(own);
  bool sliced = false;
  for (const std::vector<int>& owners : OwnersOfBoxes(own)) {
    const Box& box = own[owners[0]];
    if (owners.size() == 1 || IsEmpty(box)) continue;
    const std::vector<Box> slices = Slices(box, static_cast<int64_t>(owners.size()));
    int64_t kept = 0;  // elements of slices that their own devices wrote
    for (size_t k = 0; k < slices.size(); ++k) {
      kept += CommonVolume(producers.writes[owners[k]], slices[k]);
    }
    if (slices.empty() || kept != CommonVolume(producers.writes[owners[0]], box)) continue;
    for (size_t k = 0; k < slices.size(); ++k) slice_owners[owners[k]] = slices[k];
    sliced = true;
  }
  if (!sliced) return absl::nullopt;
  return slice_owners;
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

int64_t GatherVolume(const std::vector<Box>& has, const std::vector<Box>& reads) {
  YUBA_CHECK(has.size() == reads.size());
  const std::vector<int> sources = AllDevices(has.size());
  const absl::optional<Box> hull = GridHull(has, sources);
  int64_t volume = 0;
  for (size_t d = 0; d < reads.size(); ++d) {
    volume += RemoteVolumeTo(d, reads[d], has[d], has, sources, hull);
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
  for (int partial = 0; partial < producers.partials; ++partial) {
    const absl::optional<Box> hull = GridHull(producers.writes, devices[partial]);
    for (size_t d = 0; d < first_owners.size(); ++d) {
      if (IsEmpty(first_owners[d])) continue;
      const Box& writes = producers.partial[d] == partial ? producers.writes[d] : nothing;
      volume +=
          RemoteVolumeTo(d, first_owners[d], writes, producers.writes, devices[partial], hull);
    }
  }
  return volume;
}

}  // namespace yuba
