// Bytes on their way between devices of which none reads another one's memory: a device packs them
// into its send buffer, side by side in the order of a walk, and gets others in its receive buffer.
// Here is what lies where in the buffers; nothing here moves anything.
#ifndef YUBA_RUNTIME_STAGING_H_
#define YUBA_RUNTIME_STAGING_H_

#include <cstdint>

#include "runtime/walk.h"

namespace yuba::runtime {

// The place of the next `bytes` in a staging buffer of which `used` bytes are taken, which grow:
// for elements of any type.
int64_t TakeStaging(int64_t bytes, int64_t& used);

// The walk where buffer number `buffer` has the elements side by side, in the walk's order.
BoxWalk Packed(BoxWalk walk, size_t buffer);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_STAGING_H_
