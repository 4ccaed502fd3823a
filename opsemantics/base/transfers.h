// Transfers(have, need): the one definition of communication. Bytes, lowering, the runtime and the
// checker all come from here. A box of elements moves from `source` to `destination`; what a device
// already has it does not receive.
#ifndef YUBA_OPSEMANTICS_BASE_TRANSFERS_H_
#define YUBA_OPSEMANTICS_BASE_TRANSFERS_H_

#include <cstdint>
#include <vector>

#include "opsemantics/base/box.h"

namespace yuba {

struct Transfer {
  int source = 0;
  int destination = 0;
  Box box;
  friend bool operator==(const Transfer& a, const Transfer& b) {
    return a.source == b.source && a.destination == b.destination && a.box == b.box;
  }
};

// Fetch: each element of need[d] reaches d once, from d itself where have[d] holds it, else from
// the first device that has it. have and need are indexed by device. Transfers with source ==
// destination are the local copies; they are listed too and cost nothing. The order is by
// destination, then source, then box. Elements that nobody has are left out.
std::vector<Transfer> FetchTransfers(const std::vector<Box>& have, const std::vector<Box>& need);

// What the devices of a node make, as deliveries see it.
struct Makers {
  std::vector<Box> made;  // [device]
  std::vector<int> part;  // [device] the reduction part that the device computes
  int parts = 1;
};

// Deliver, first step: the pieces that reach `home`, the first owner of each element, ascending by
// part: each part of each element once, from home itself where it made it, else from the part's
// first maker. With one part (parts == 1) every owner is a home, so that one step does it all. own
// is indexed by device. `part` of a piece is the reduction part it belongs to.
struct Delivery {
  Transfer transfer;
  int part = 0;
};
std::vector<Delivery> DeliverTransfers(const Makers& makers, const std::vector<Box>& own);

// Deliver, second step (parts > 1 and replicated owners): the boxes that homes have, to be fetched
// by the other owners: homes[d] is own[d] where d is the first of the devices with that box, else
// empty (for scalars, whose one box is not empty, one empty interval).
std::vector<Box> HomeBoxes(const std::vector<Box>& own);

// Deliver to an addend: devices of equal `group` take only from each other. The group is one more
// dimension, the first, of what they make and what they own; all else is a delivery.
std::vector<Box> BoxesInGroups(const std::vector<Box>& boxes, const std::vector<int>& group);

// Elements that move between different devices. Equal to the sum over the lists above.
int64_t FetchVolume(const std::vector<Box>& have, const std::vector<Box>& need);
int64_t DeliverVolume(const Makers& makers, const std::vector<Box>& own);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_TRANSFERS_H_
