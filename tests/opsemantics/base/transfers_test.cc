// Transfers and volumes against marking: random boxes, and the way of every single element found
// from the definition of a gather and of a reduce, with no box arithmetic.
#include "opsemantics/base/transfers.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "catch2/catch.hpp"

namespace yuba {
namespace {

using Point = std::vector<int64_t>;
using Random = std::mt19937;

int Below(int bound, Random& random) { return static_cast<int>(random() % bound); }

Box RandomBox(int rank, int extent, Random& random) {
  Box box;
  for (int d = 0; d < rank; ++d) {
    const int64_t a = Below(extent + 1, random), b = Below(extent + 1, random);
    box.push_back({std::min(a, b), std::max(a, b)});
  }
  return box;
}

bool Holds(const Box& box, const Point& point) {
  for (size_t d = 0; d < box.size(); ++d) {
    if (point[d] < box[d].begin || point[d] >= box[d].end) return false;
  }
  return true;
}

// [device]: boxes as shardings give them (the first dimension cut, or the first two, each box on
// one device or on two); or, where `wild`, any boxes, or any cells of a grid.
std::vector<Box> RandomBoxes(int devices, int rank, int extent, bool wild, Random& random) {
  std::vector<Box> boxes;
  const bool cells = wild && Below(2, random) == 0;
  const int copies = 1 + Below(2, random);
  for (int d = 0; d < devices; ++d) {
    Box box = wild ? RandomBox(rank, extent, random) : Box(rank, Interval{0, extent});
    const int parts = (devices + copies - 1) / copies, part = d / copies;
    if (!wild && rank > 0) box[0] = PartOf(extent, parts, part);
    if (!wild && rank > 1 && parts % 2 == 0) {
      box[0] = PartOf(extent, parts / 2, part / 2);
      box[1] = PartOf(extent, 2, part % 2);
    }
    for (int dim = 0; cells && dim < rank; ++dim) box[dim] = PartOf(extent, 2, Below(2, random));
    boxes.push_back(box);
  }
  return boxes;
}

// A gather by its definition: (destination, element) -> source.
std::map<std::pair<int, Point>, int> MarkGather(const std::vector<Box>& has,
                                                const std::vector<Box>& reads) {
  std::map<std::pair<int, Point>, int> source;
  for (size_t d = 0; d < reads.size(); ++d) {
    ForEachPoint(reads[d], [&](const Point& point) {
      if (Holds(has[d], point)) {
        source[{d, point}] = d;
        return;
      }
      for (size_t s = 0; s < has.size(); ++s) {
        if (!Holds(has[s], point)) continue;
        source[{d, point}] = s;
        return;
      }
    });
  }
  return source;
}

void CheckGather(const std::vector<Box>& has, const std::vector<Box>& reads) {
  std::map<std::pair<int, Point>, int> listed;
  std::tuple<int, int> last = {-1, -1};
  for (const Transfer& transfer : GatherTransfers(has, reads)) {
    CHECK_FALSE(IsEmpty(transfer.box));
    const std::tuple<int, int> key = {transfer.destination, transfer.source};
    CHECK(last <= key);
    last = key;
    ForEachPoint(transfer.box, [&](const Point& point) {
      const bool once = listed.insert({{transfer.destination, point}, transfer.source}).second;
      if (!once) FAIL("an element is listed twice");
    });
  }
  const auto marked = MarkGather(has, reads);
  CHECK(listed == marked);
  int64_t moved = 0;
  for (const auto& entry : marked) moved += entry.first.first != entry.second;
  CHECK(GatherVolume(has, reads) == moved);
}

TEST_CASE(
    "a gather brings each element that is read once, from the device itself or the first owner") {
  Random random(1);
  for (int trial = 0; trial < 600; ++trial) {
    const int rank = Below(4, random), devices = 1 + Below(6, random),
              extent = 1 + Below(6, random);
    INFO("trial " << trial << ", rank " << rank << ", devices " << devices);
    const std::vector<Box> has = RandomBoxes(devices, rank, extent, trial % 3 == 0, random);
    CheckGather(has, RandomBoxes(devices, rank, extent, trial % 2 == 0, random));
    CheckGather(has, has);
  }
}

// A reduce by its definition: (first owner, partial, element) -> source, and how many elements move
// in both steps.
struct Marked {
  std::map<std::tuple<int, int, Point>, int> sources;
  int64_t volume = 0;
};

int FirstProducer(const Producers& producers, int partial, const Point& point) {
  for (size_t d = 0; d < producers.writes.size(); ++d) {
    if (producers.partial[d] == partial && Holds(producers.writes[d], point)) return d;
  }
  return -1;
}

Marked MarkReduce(const Producers& producers, const std::vector<Box>& own) {
  Marked marked;
  for (size_t d = 0; d < own.size(); ++d) {
    const size_t first_owner = std::find(own.begin(), own.end(), own[d]) - own.begin();
    ForEachPoint(own[d], [&](const Point& point) {
      if (producers.partials > 1 && first_owner != d) {  // the result, from the first owner
        ++marked.volume;
        return;
      }
      for (int partial = 0; partial < producers.partials; ++partial) {
        const bool self = producers.partial[d] == partial && Holds(producers.writes[d], point);
        const int source = self ? d : FirstProducer(producers, partial, point);
        if (source < 0) continue;
        marked.sources[{d, partial, point}] = source;
        marked.volume += source != static_cast<int>(d);
      }
    });
  }
  return marked;
}

TEST_CASE("a reduction brings each partial of each element to its first owner once") {
  Random random(2);
  for (int trial = 0; trial < 600; ++trial) {
    const int rank = Below(3, random), devices = 1 + Below(6, random),
              extent = 1 + Below(6, random);
    INFO("trial " << trial << ", rank " << rank << ", devices " << devices);
    Producers producers;
    producers.partials = 1 + Below(3, random);
    producers.writes = RandomBoxes(devices, rank, extent, trial % 3 == 0, random);
    for (int d = 0; d < devices; ++d)
      producers.partial.push_back(Below(producers.partials, random));
    const std::vector<Box> own = RandomBoxes(devices, rank, extent, false, random);
    std::map<std::tuple<int, int, Point>, int> listed;
    std::tuple<int, int> last = {-1, -1};
    for (const ReduceTransfer& reduction : ReduceTransfers(producers, own)) {
      const Transfer& transfer = reduction.transfer;
      const std::tuple<int, int> key = {transfer.destination, reduction.partial};
      CHECK(last <= key);
      last = key;
      ForEachPoint(transfer.box, [&](const Point& point) {
        const auto entry = std::make_tuple(transfer.destination, reduction.partial, point);
        if (!listed.insert({entry, transfer.source}).second) FAIL("an element is listed twice");
      });
    }
    const Marked marked = MarkReduce(producers, own);
    CHECK(listed == marked.sources);
    CHECK(ReduceVolume(producers, own) == marked.volume);
  }
}

// Each element of a box has one slice owner, a device that owns the box.
void CheckSlices(const std::vector<Box>& own, const std::vector<Box>& slices) {
  REQUIRE(slices.size() == own.size());
  std::map<std::pair<std::vector<std::pair<int64_t, int64_t>>, Point>, int> owners_of;
  for (size_t d = 0; d < own.size(); ++d) {
    std::vector<std::pair<int64_t, int64_t>> box;
    for (const Interval& interval : own[d]) box.push_back({interval.begin, interval.end});
    ForEachPoint(own[d], [&](const Point& point) { owners_of[{box, point}] += 0; });
    if (IsEmpty(slices[d])) continue;
    CHECK(Contains(own[d], slices[d]));
    ForEachPoint(slices[d], [&](const Point& point) { ++owners_of[{box, point}]; });
  }
  for (const auto& element : owners_of) {
    if (element.second != 1) FAIL("an element of a box has " << element.second << " slice owners");
  }
}

TEST_CASE("in an all-reduce all devices own equal slices") {
  const int devices = 8;
  Producers producers;
  producers.partials = devices;
  for (int d = 0; d < devices; ++d) producers.partial.push_back(d);
  const Box box = {{2, 5}, {0, 16}, {0, 24}};
  const std::vector<Box> all(devices, box);
  producers.writes = all;
  const std::vector<Box> slices = SliceOwnerBoxes(producers, all).value();
  for (int d = 0; d < devices; ++d) {
    CHECK(slices[d] == Box{{2, 5}, {2 * d, 2 * d + 2}, {0, 24}});  // 3 rows do not divide by 8
  }
  CHECK(ReduceVolume(producers, all) == 2 * 7 * Volume(box));
  // Where the first device wrote nothing of the box, slices would save something that the price of
  // a plan does not know of: the first owner stays alone.
  producers.writes[0] = {{0, 1}, {0, 16}, {0, 24}};
  CHECK_FALSE(SliceOwnerBoxes(producers, all).has_value());
}

TEST_CASE("slices have each element of a box once, and as much moves as by first owners") {
  Random random(3);
  int sliced = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const int rank = 1 + Below(2, random), devices = 2 + Below(5, random),
              extent = 2 + Below(6, random);
    INFO("trial " << trial);
    Producers producers;
    producers.partials = 2 + Below(2, random);
    for (int d = 0; d < devices; ++d)
      producers.partial.push_back(Below(producers.partials, random));
    const std::vector<Box> two = RandomBoxes(2, rank, extent, false, random);
    std::vector<Box> own;
    for (int d = 0; d < devices; ++d) own.push_back(two[Below(2, random)]);
    producers.writes = trial % 2 == 0 ? own : RandomBoxes(devices, rank, extent, false, random);
    const absl::optional<std::vector<Box>> slices = SliceOwnerBoxes(producers, own);
    if (!slices.has_value()) continue;
    ++sliced;
    CheckSlices(own, *slices);
    int64_t partials = 0;
    for (const ReduceTransfer& reduction : ReduceTransfers(producers, *slices)) {
      const Transfer& transfer = reduction.transfer;
      if (transfer.source != transfer.destination) partials += Volume(transfer.box);
    }
    // As many partials and as many results: their elements may differ in size.
    const int64_t results = GatherVolume(*slices, own);
    CHECK(results == GatherVolume(FirstOwnerBoxes(own), own));
    CHECK(partials + results == ReduceVolume(producers, own));
  }
  CHECK(sliced > 50);
}

TEST_CASE(
    "an all-reduce of a scalar costs its partials to the first owner and the result to the "
    "others") {
  Producers producers;
  producers.writes.assign(4, Box());
  producers.partial = {0, 1, 2, 3};
  producers.partials = 4;
  CHECK(ReduceVolume(producers, std::vector<Box>(4)) == 6);
}

}  // namespace
}  // namespace yuba
