#include "runtime/ranks/exchange_parts.h"

#include <algorithm>
#include <numeric>

namespace yuba::runtime {
namespace {

// What a member has of the parts of others: each once, and its own, unless it is in place.
bool HasAllParts(const ExchangePlan& plan, size_t member, Parts& parts) {
  std::vector<bool> has(parts.members.size());
  for (const Piece& piece : plan.devices[parts.members[member]].pieces) {
    if (piece.walk.elements() == 0) continue;
    const size_t source = parts.IndexOf(piece.source);
    if (source == has.size() || has[source]) return false;
    has[source] = true;
    if (parts.boxes[source] == nullptr) parts.boxes[source] = &piece.box;
    if (*parts.boxes[source] != piece.box) return false;
  }
  if (plan.source_offset == plan.destination_offset) has[member] = true;
  for (size_t source = 0; source < has.size(); ++source) {
    if (!has[source] && parts.elements(source) > 0) return false;
  }
  return true;
}

// The one cell of a device; null: none. False where it has more, or pieces.
bool OnlyCell(const DeviceExchange& own, const Cell*& cell) {
  for (const Piece& piece : own.pieces) {
    if (piece.walk.elements() > 0) return false;
  }
  cell = nullptr;
  for (const Cell& each : own.cells) {
    if (each.walk.elements() == 0) continue;
    if (cell != nullptr) return false;
    cell = &each;
  }
  return true;
}

}  // namespace

std::vector<int> FirstOfGroups(const ExchangePlan& plan) {
  std::vector<int> first(plan.devices.size());
  std::iota(first.begin(), first.end(), 0);
  const auto first_of = [&](int device) {
    while (first[device] != device) device = first[device] = first[first[device]];
    return device;
  };
  for (size_t d = 0; d < first.size(); ++d) {
    for (const int source : plan.devices[d].sources) {
      const int a = first_of(static_cast<int>(d)), b = first_of(source);
      first[std::max(a, b)] = std::min(a, b);
    }
  }
  for (size_t d = 0; d < first.size(); ++d) first[d] = first_of(static_cast<int>(d));
  return first;
}

std::map<int, Members> MembersOf(const std::vector<int>& group_of) {
  std::map<int, Members> groups;
  for (size_t d = 0; d < group_of.size(); ++d) groups[group_of[d]].push_back(static_cast<int>(d));
  return groups;
}
size_t Parts::IndexOf(int device) const {
  const auto at = std::lower_bound(members.begin(), members.end(), device);
  return at != members.end() && *at == device ? at - members.begin() : members.size();
}

int64_t Parts::Total() const {
  int64_t total = 0;
  for (size_t m = 0; m < members.size(); ++m) total += elements(m);
  return total;
}

int64_t Parts::Largest() const {
  int64_t largest = 0;
  for (size_t m = 0; m < members.size(); ++m) largest = std::max(largest, elements(m));
  return largest;
}

absl::optional<Parts> GatheredParts(const ExchangePlan& plan, Members members) {
  Parts parts(std::move(members));
  // Twice, since the first ones are looked at before all parts are known.
  for (int time = 0; time < 2; ++time) {
    for (size_t m = 0; m < parts.members.size(); ++m) {
      const bool combines = !plan.devices[parts.members[m]].cells.empty();
      if (combines || !(HasAllParts(plan, m, parts) || time == 0)) return absl::nullopt;
    }
  }
  return parts;
}

absl::optional<Parts> CombinedParts(const ExchangePlan& plan, Members members) {
  Parts parts(std::move(members));
  for (size_t m = 0; m < parts.members.size(); ++m) {
    const Cell* cell = nullptr;
    if (!OnlyCell(plan.devices[parts.members[m]], cell)) return absl::nullopt;
    if (cell == nullptr) continue;
    Members sources = cell->sources;
    std::sort(sources.begin(), sources.end());
    if (sources != parts.members) return absl::nullopt;
    parts.boxes[m] = &cell->box;
  }
  return parts;
}

const Cell* CellOf(const ExchangePlan& plan, int device) {
  const Cell* cell = nullptr;
  OnlyCell(plan.devices[device], cell);
  return cell;
}

const Piece* PieceFrom(const ExchangePlan& plan, int device, int source) {
  for (const Piece& piece : plan.devices[device].pieces) {
    if (piece.source == source && piece.walk.elements() > 0) return &piece;
  }
  return nullptr;
}

}  // namespace yuba::runtime
