// What a byte is: the one definition of communication. The bytes of a plan, the exchanges of a
// program, the copies that the runtime makes and the checker all follow from this file.
//
// Each device has one box of each tensor (box.h). Communication is two questions about boxes:
//   gather  before a node runs: the elements that a device reads and does not have come to it;
//   reduce  after a node ran: the elements that devices wrote come to the devices that own them.
// Where a node was cut along a reduction, a device wrote only a *partial* of each element of its
// box: the sum (or the maximum, ...) of some of its terms. An owner then receives each partial of
// each element once and combines them.
//
// What moves is counted in elements: one element that comes to one other device counts once.
// Elements that a device has already cost nothing, and messages have no cost of their own. Bytes
// are moved elements times the size of an element (element_type.h): ByteSize(type), and
// ByteSize(AccumulatorType(type)) where partials are combined.
//
// Lists are indexed by device. All boxes of one call are boxes of one tensor, in its global
// coordinates, and have one rank; lists of different lengths are a fault (CHECK). The functions are
// pure and the same on every device, so that all devices agree on what moves without talking.
//
// Example of a gather, a halo: device 0 has rows 0-3 of 8, device 1 rows 4-7, and a window of 3
// reads one row beyond the shard. has = {[0, 4), [4, 8)}, reads = {[0, 5), [3, 8)}: row 4 goes from
// 1 to 0 and row 3 from 0 to 1, so GatherVolume is 2.
//
// Example of a reduce: y has 8 elements; devices 0 and 1 each summed half of the terms of all of
// them. writes = {[0, 8), [0, 8)}, partial = {0, 1}, partials = 2.
//   own = {[0, 4), [4, 8)}: device 0 receives [0, 4) of partial 1, device 1 receives [4, 8) of
//     partial 0 (each has the other partial itself). ReduceVolume is 8: a reduce-scatter.
//   own = {[0, 8), [0, 8)}: device 0 is the first owner and receives 8 elements of partial 1; then
//     device 1 gathers the 8 results from it. ReduceVolume is 16: an all-reduce. With slice
//     owners, {[0, 4), [4, 8)}, each device receives 4 elements of the other's partial and 4
//     results.
// opsemantics/sharding/README.md works a whole matmul on 4 devices.
#ifndef YUBA_OPSEMANTICS_BASE_TRANSFERS_H_
#define YUBA_OPSEMANTICS_BASE_TRANSFERS_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/box.h"

namespace yuba {

// The elements of `box` go from one device to another, or stay (source == destination).
struct Transfer {
  int source = 0;       // device
  int destination = 0;  // device
  Box box;              // never empty in the lists below
  friend bool operator==(const Transfer& a, const Transfer& b) {
    return a.source == b.source && a.destination == b.destination && a.box == b.box;
  }
};

// Gather: each element of reads[d] reaches device d once, from d itself where has[d] holds it, else
// from the device of the lowest number that has it. Elements that no device has are left out.
// Transfers with source == destination are local copies; they are listed too, and cost nothing. The
// order is by destination, then source, then box.
std::vector<Transfer> GatherTransfers(const std::vector<Box>& has, const std::vector<Box>& reads);

// What the devices write when they run a node (AnalyzeNode of opsemantics/sharding/sharding.h).
struct Producers {
  std::vector<Box> writes;   // [device]
  std::vector<int> partial;  // [device] which partial it writes, of all elements of its box
  int partials = 1;          // how many partials each element has; 1: what is written is the result
};

// Reduce, first step. own[d] is the box that device d shall have at the end; several devices may
// own one box, and the first of them (FirstOwnerBoxes) then combines for all. Each partial of each
// element reaches its first owner once: from the first owner itself where that wrote it, else from
// the device of the lowest number that wrote it. Elements without a term in a partial are written
// by no device and do not move. The order is by destination, then partial (partials are combined in
// ascending order), then source, then box. With partials == 1 there is nothing to combine: every
// owner counts as a first owner, the list is that of GatherTransfers(writes, own), and no second
// step follows.
struct ReduceTransfer {
  Transfer transfer;
  int partial = 0;  // which partial the elements are of
};
std::vector<ReduceTransfer> ReduceTransfers(const Producers& producers,
                                            const std::vector<Box>& own);

// Reduce, second step, where partials > 1 and several devices own one box: the other owners gather
// the results, GatherTransfers(FirstOwnerBoxes(own), own). FirstOwnerBoxes is own[d] where d is the
// lowest device with exactly that box, else an empty box. The empty box of a scalar, whose rank has
// none, is one empty interval.
std::vector<Box> FirstOwnerBoxes(const std::vector<Box>& own);

// The same without one device that works for all: where several devices own one box, each can be
// the *slice owner* of a part of it. The partials of a slice go to its owner (ReduceTransfers with
// slice owners for owners), and then the owners of the box gather the other slices. A box is sliced
// where exactly as many elements move as by its first owner: where what the owners wrote of their
// own slices is together as much as the first owner wrote of the box. In an all-reduce of 8
// elements by 2 devices each wrote 4 of its slice, the first owner 8 of the box. Elsewhere a plan,
// which is priced by first owners, would move another number of elements than it costs.
//
// The result has the slice, or the whole box of a first owner, of each device, and an empty box for
// the others; nullopt where no box is sliced. Boxes of `own` are equal or disjoint, as those of a
// sharding are. Slices lie along the first dimension that divides into as many, else along the
// longest; boxes with fewer elements along it than owners are not sliced.
absl::optional<std::vector<Box>> SliceOwnerBoxes(const Producers& producers,
                                                 const std::vector<Box>& own);

// For tensors whose partials stay unreduced (search/rewrite/partials.h): devices exchange elements
// only with devices of the same group. The group's number becomes the first dimension of each box:
// device d's box {[0, 4)} in group 2 is {[2, 3), [0, 4)}. With these boxes all functions of this
// file do what they do within each group. boxes and group are indexed by device.
std::vector<Box> BoxesInGroups(const std::vector<Box>& boxes, const std::vector<int>& group);

// Elements that move between different devices: the volumes of the transfers with source !=
// destination, of a reduce those of both steps. Faster than the lists where boxes form a grid, as
// shards do.
int64_t GatherVolume(const std::vector<Box>& has, const std::vector<Box>& reads);
int64_t ReduceVolume(const Producers& producers, const std::vector<Box>& own);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_TRANSFERS_H_
