#include "opsemantics/base/transfers.h"

#include <algorithm>

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

// What moves to `destination` that needs `need`: from itself, then from each of `sources` in their
// order what none before has. Appended in the order of FetchTransfers.
void FetchInto(int destination, const Box& need, const Box& own, const std::vector<Box>& have,
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
std::vector<std::vector<int>> MakersOfParts(const Makers& makers) {
  std::vector<std::vector<int>> devices(makers.parts);
  for (size_t d = 0; d < makers.part.size(); ++d) devices[makers.part[d]].push_back(d);
  return devices;
}

int64_t RemoteVolume(const std::vector<Transfer>& transfers) {
  int64_t volume = 0;
  for (const Transfer& transfer : transfers) {
    if (transfer.source != transfer.destination) volume += Volume(transfer.box);
  }
  return volume;
}

}  // namespace

std::vector<Transfer> FetchTransfers(const std::vector<Box>& have, const std::vector<Box>& need) {
  YUBA_CHECK(have.size() == need.size());
  const std::vector<int> sources = AllDevices(have.size());
  std::vector<Transfer> transfers;
  for (size_t d = 0; d < need.size(); ++d) {
    FetchInto(d, need[d], have[d], have, sources, transfers);
  }
  return transfers;
}

std::vector<Delivery> DeliverTransfers(const Makers& makers, const std::vector<Box>& own) {
  YUBA_CHECK(makers.made.size() == own.size() && makers.part.size() == own.size());
  std::vector<Delivery> deliveries;
  if (makers.parts == 1) {
    for (Transfer& transfer : FetchTransfers(makers.made, own)) {
      deliveries.push_back({std::move(transfer), 0});
    }
    return deliveries;
  }
  const std::vector<Box> homes = HomeBoxes(own);
  const std::vector<std::vector<int>> devices = MakersOfParts(makers);
  const Box nothing = {{0, 0}};
  for (size_t d = 0; d < homes.size(); ++d) {
    if (IsEmpty(own[d]) || homes[d] != own[d]) continue;  // no home, or nothing to have
    for (int part = 0; part < makers.parts; ++part) {
      std::vector<Transfer> transfers;
      const Box& made = makers.part[d] == part ? makers.made[d] : nothing;
      FetchInto(d, homes[d], made, makers.made, devices[part], transfers);
      for (Transfer& transfer : transfers) deliveries.push_back({std::move(transfer), part});
    }
  }
  return deliveries;
}

std::vector<Box> HomeBoxes(const std::vector<Box>& own) {
  std::vector<Box> homes = own;
  for (size_t d = 0; d < own.size(); ++d) {
    for (size_t earlier = 0; earlier < d; ++earlier) {
      if (own[earlier] != own[d]) continue;
      homes[d].assign(std::max<size_t>(own[d].size(), 1), Interval{0, 0});
      break;
    }
  }
  return homes;
}

int64_t FetchVolume(const std::vector<Box>& have, const std::vector<Box>& need) {
  return RemoteVolume(FetchTransfers(have, need));
}

int64_t DeliverVolume(const Makers& makers, const std::vector<Box>& own) {
  int64_t volume = 0;
  for (const Delivery& delivery : DeliverTransfers(makers, own)) {
    if (delivery.transfer.source != delivery.transfer.destination) {
      volume += Volume(delivery.transfer.box);
    }
  }
  if (makers.parts > 1) volume += FetchVolume(HomeBoxes(own), own);
  return volume;
}

}  // namespace yuba
