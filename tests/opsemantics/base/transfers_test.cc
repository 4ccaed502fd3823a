// Transfers against marking: random boxes, each element followed by hand.
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

// Boxes of devices as cuts make them (of the first dimension, or of two, each box once or twice),
// or wild: any, or any cells of a grid.
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

// (destination, source) of each element that moves, by the definition of a gather.
std::map<std::pair<int, Point>, int> MarkGather(const std::vector<Box>& have,
                                                const std::vector<Box>& need) {
  std::map<std::pair<int, Point>, int> source;
  for (size_t d = 0; d < need.size(); ++d) {
    ForEachPoint(need[d], [&](const Point& point) {
      if (Holds(have[d], point)) {
        source[{d, point}] = d;
        return;
      }
      for (size_t s = 0; s < have.size(); ++s) {
        if (!Holds(have[s], point)) continue;
        source[{d, point}] = s;
        return;
      }
    });
  }
  return source;
}

void CheckGather(const std::vector<Box>& have, const std::vector<Box>& need) {
  std::map<std::pair<int, Point>, int> listed;
  std::tuple<int, int> last = {-1, -1};
  for (const Transfer& transfer : GatherTransfers(have, need)) {
    CHECK_FALSE(IsEmpty(transfer.box));
    const std::tuple<int, int> key = {transfer.destination, transfer.source};
    CHECK(last <= key);
    last = key;
    ForEachPoint(transfer.box, [&](const Point& point) {
      const bool once = listed.insert({{transfer.destination, point}, transfer.source}).second;
      if (!once) FAIL("an element is listed twice");
    });
  }
  const auto marked = MarkGather(have, need);
  CHECK(listed == marked);
  int64_t moved = 0;
  for (const auto& entry : marked) moved += entry.first.first != entry.second;
  CHECK(GatherVolume(have, need) == moved);
}

TEST_CASE("a fetch brings each needed element once, from the device itself or the first owner") {
  Random random(1);
  for (int trial = 0; trial < 600; ++trial) {
    const int rank = Below(4, random), devices = 1 + Below(6, random),
              extent = 1 + Below(6, random);
    INFO("trial " << trial << ", rank " << rank << ", devices " << devices);
    const std::vector<Box> have = RandomBoxes(devices, rank, extent, trial % 3 == 0, random);
    CheckGather(have, RandomBoxes(devices, rank, extent, trial % 2 == 0, random));
    CheckGather(have, have);
  }
}

// What is reduced to first owners: (home, part, element) -> source; and how much moves in all.
struct Marked {
  std::map<std::tuple<int, int, Point>, int> pieces;
  int64_t volume = 0;
};

int FirstProducer(const Producers& producers, int part, const Point& point) {
  for (size_t d = 0; d < producers.writes.size(); ++d) {
    if (producers.partial[d] == part && Holds(producers.writes[d], point)) return d;
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
      for (int part = 0; part < producers.partials; ++part) {
        const bool self = producers.partial[d] == part && Holds(producers.writes[d], point);
        const int source = self ? d : FirstProducer(producers, part, point);
        if (source < 0) continue;
        marked.pieces[{d, part, point}] = source;
        marked.volume += source != static_cast<int>(d);
      }
    });
  }
  return marked;
}

TEST_CASE("a delivery brings each part of each element to its home once") {
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
    CHECK(listed == marked.pieces);
    CHECK(ReduceVolume(producers, own) == marked.volume);
  }
}

TEST_CASE("an all-reduce of a scalar costs its parts to the home and the result to the others") {
  Producers producers;
  producers.writes.assign(4, Box());
  producers.partial = {0, 1, 2, 3};
  producers.partials = 4;
  CHECK(ReduceVolume(producers, std::vector<Box>(4)) == 6);
}

}  // namespace
}  // namespace yuba
