// Exchanges between devices that cannot read each other's memory, be they GPUs or processes: what a
// device reads of such a source goes through two staging buffers. The source packs the elements
// into its send buffer, side by side in the order of the walk; a transport moves them into the
// reader's receive buffer; from there the reader goes on as with memory that it can read. Here is
// what lies where in the buffers; nothing here moves anything.
//
// Example: device 1 reads columns 4-7 of device 0's [2, 8] f32. Device 0 packs 8 floats into bytes
// 0-31 of its send buffer, device 1 fetches these into its receive buffer.
#ifndef YUBA_RUNTIME_STAGING_H_
#define YUBA_RUNTIME_STAGING_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/exchange_plan.h"

namespace yuba::runtime {

// One piece, or one partial of a cell, on its way.
struct Fetch {
  int source = 0;    // device
  int64_t from = 0;  // in the source's send buffer, bytes
  int64_t to = 0;    // in the reader's receive buffer, bytes
  int64_t bytes = 0;
};

struct Staging {
  // [device]: what it fetches: of its pieces, then of its cells' partials, in their order, those
  // from sources whose memory it cannot read.
  std::vector<std::vector<Fetch>> fetches;
  std::vector<int64_t> sent_bytes, received_bytes;  // [device]
};

// can_read(reader, source) says whether a device can read the source's memory.
Staging StagingOf(const ExchangePlan& plan, const std::function<bool(int, int)>& can_read);

// The place of the next `bytes` in a staging buffer of which `used` bytes are taken, which grow:
// for elements of any type.
int64_t TakeStaging(int64_t bytes, int64_t& used);

// The walk where buffer number `buffer` has the elements side by side, in the walk's order.
BoxWalk Packed(BoxWalk walk, size_t buffer);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_STAGING_H_
