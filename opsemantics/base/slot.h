// How much of a device's memory a buffer takes. Everything in memory begins at a multiple of
// kSlotBytes, which suits cache lines, vector loads and NCCL. Search, checker, compiler and runtime
// count in slots, so that a limit on memory means the same to all of them.
//
// Example: 100 bytes take a slot of 128; no bytes take none.
#ifndef YUBA_OPSEMANTICS_BASE_SLOT_H_
#define YUBA_OPSEMANTICS_BASE_SLOT_H_

#include <cstdint>

namespace yuba {

inline constexpr int64_t kSlotBytes = 64;

// The bytes of the smallest slot that holds `bytes`.
constexpr int64_t SlotBytes(int64_t bytes) {
  return (bytes + kSlotBytes - 1) / kSlotBytes * kSlotBytes;
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_SLOT_H_
