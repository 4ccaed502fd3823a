// What each device receives in an exchange, by kind of links: the elements of base/transfers.h,
// told apart by how far they come, and the messages that bring them.
//
// Groups are of consecutive devices: `groups[c]` of them are joined by links of the kinds 0 to c
// (GroupSizes of base/mesh.h), and each number divides the next; the last is all devices. Each
// element comes from the nearest device that has it: from the device itself, else from one of its
// group of kind 0, else of kind 1, and so on. Where all links are of one kind, that is what
// GatherTransfers lists. A message is all that one device receives from another in one exchange;
// equal boxes of several sources are one message.
//
// Example: 4 devices in groups of 2, {2, 4}; device d has row d of 4 and reads all of them. It
// receives one element row over links of kind 0 in one message, and two over kind 1 in two.
#ifndef YUBA_OPSEMANTICS_SHARDING_MOVED_H_
#define YUBA_OPSEMANTICS_SHARDING_MOVED_H_

#include <array>
#include <cstdint>
#include <vector>

#include "opsemantics/base/mesh.h"
#include "opsemantics/base/transfers.h"

namespace yuba {

// By kind of links.
struct Moved {
  std::array<int64_t, kMostKinds> bytes{};
  std::array<int64_t, kMostKinds> messages{};

  Moved& operator+=(const Moved& other);
  friend bool operator==(const Moved& a, const Moved& b) {
    return a.bytes == b.bytes && a.messages == b.messages;
  }
};

// [device]: what it receives in a gather (GatherTransfers), with elements of `size` bytes.
std::vector<Moved> GatherMoved(const std::vector<Box>& has, const std::vector<Box>& reads,
                               const std::vector<int>& groups, int64_t size);

// [device]: what it receives in a reduction (ReduceTransfers). Partials have `partial_size` bytes
// an element, results `size`. Where several devices own one box and partials are combined, each
// owner combines an equal slice (SliceOwnerBoxes), and then gathers the others' results: of a box
// of n elements that comes in p partials to r owners, each receives about (p - 1) * n / r elements
// of partials and (r - 1) * n / r results, both rounded up.
std::vector<Moved> ReduceMoved(const Producers& producers, const std::vector<Box>& own,
                               const std::vector<int>& groups, int64_t partial_size, int64_t size);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_SHARDING_MOVED_H_
