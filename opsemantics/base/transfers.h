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

// Gather: what devices read and lack. Each element of need[d] reaches d once, from d itself where
// have[d] holds it, else from the first device that has it. have and need are indexed by device.
// Transfers with source == destination are the local copies; they are listed too and cost nothing.
// The order is by destination, then source, then box. Elements that nobody has are left out.
//
// A halo is such a transfer: rows 0-3 of 8 are on device 0, rows 4-7 on device 1, and a window of 3
// reads one row beyond the shard. have = {[0,4), [4,8)}, need = {[0,5), [3,8)}: row 4 goes from 1
// to 0, row 3 from 0 to 1.
std::vector<Transfer> GatherTransfers(const std::vector<Box>& have, const std::vector<Box>& need);

// What the devices of a node write.
struct Producers {
  std::vector<Box> writes;   // [device]
  std::vector<int> partial;  // [device] which partial of the elements of its box the device has
  int partials = 1;          // so many have to be combined for each element
};

// Reduce, first step: the transfers to the first owner of each element, ascending by partial: each
// partial of each element once, from the first owner itself where that wrote it, else from the
// partial's first producer. With partials == 1 every owner counts as a first owner, so that one
// step does it all. own, the boxes that devices shall have, is indexed by device.
struct ReduceTransfer {
  Transfer transfer;
  int partial = 0;  // to which the transferred elements belong
};
std::vector<ReduceTransfer> ReduceTransfers(const Producers& producers,
                                            const std::vector<Box>& own);

// Reduce, second step (partials > 1 and replicated owners): the boxes that first owners have, from
// which the other owners gather: own[d] where d is the first of the devices with that box, else an
// empty box (for scalars, whose one box is not empty, one empty interval).
std::vector<Box> FirstOwnerBoxes(const std::vector<Box>& own);

// Reduce into partials that stay unreduced: devices of equal `group` take only from each other. The
// group is one more dimension, the first, of what they write and what they own; all else is as
// above.
std::vector<Box> BoxesInGroups(const std::vector<Box>& boxes, const std::vector<int>& group);

// Elements that move between different devices. Equal to the sum over the lists above.
int64_t GatherVolume(const std::vector<Box>& have, const std::vector<Box>& need);
int64_t ReduceVolume(const Producers& producers, const std::vector<Box>& own);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_TRANSFERS_H_
