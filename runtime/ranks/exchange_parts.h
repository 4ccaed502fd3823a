// What the devices of a group give each other in an exchange, where each of them has one part that
// is its own: in a gather what it brings to all, in a combination what it gets the result of.
//
// Example: rows 0-2 and 3-6 of 7 are gathered by two devices. Both are one group, whose parts are
// these boxes.
#ifndef YUBA_RUNTIME_RANKS_EXCHANGE_PARTS_H_
#define YUBA_RUNTIME_RANKS_EXCHANGE_PARTS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/exchange_plan.h"

namespace yuba::runtime {

using Members = std::vector<int>;  // devices of a group, ascending

// [device]: the first device of its group, which is those that exchange something with each other,
// directly or through others.
std::vector<int> FirstOfGroups(const ExchangePlan& plan);

// By their first members.
std::map<int, Members> MembersOf(const std::vector<int>& group_of);

// The parts of a group's members.
struct Parts {
  Members members;
  std::vector<const Box*> boxes;  // [member] of its part; null: it has none

  explicit Parts(Members of) : members(std::move(of)), boxes(members.size()) {}
  size_t IndexOf(int device) const;  // its position among the members, or their number
  int64_t elements(size_t member) const {
    return boxes[member] == nullptr ? 0 : Volume(*boxes[member]);
  }
  int64_t Total() const;  // elements
  int64_t Largest() const;
  // Whether parts of one size are at most a quarter more.
  bool MayBePadded() const {
    return 4 * Largest() * static_cast<int64_t>(members.size()) <= 5 * Total();
  }
};

// Of a gather in which each member gets the parts of all, its own too, unless it is in place; and
// of a combination in which each gets that of all members' partials of its part. Nothing where the
// plan is no such exchange on one of the members.
absl::optional<Parts> GatheredParts(const ExchangePlan& plan, Members members);
absl::optional<Parts> CombinedParts(const ExchangePlan& plan, Members members);

// What a device combines, in such a combination; null: it has no part.
const Cell* CellOf(const ExchangePlan& plan, int device);
// What it gets of `source`, in such a gather; null: nothing.
const Piece* PieceFrom(const ExchangePlan& plan, int device, int source);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_EXCHANGE_PARTS_H_
