// What the devices have written of one buffer so far. Mostly each has written all that it has room
// for, with one instruction: that is one flag, whatever the number of devices.
//
// Example: a buffer has room for [0, 4) on device 0 and for [4, 8) on device 1. After
// Write({[0, 4), [4, 6)}), Missing(1, [4, 8)) is [6, 8).
#ifndef YUBA_COMPILER_VERIFY_WRITTEN_BOXES_H_
#define YUBA_COMPILER_VERIFY_WRITTEN_BOXES_H_

#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/verify/box_union.h"
#include "opsemantics/base/box.h"
#include "runtime/program/known_boxes.h"

namespace yuba::compiler {

class WrittenBoxes {
 public:
  // held: [device], what it has room for.
  explicit WrittenBoxes(program::KnownBoxes::List held) : held_(std::move(held)) {}

  // Each device writes its box of `boxes`, which lies within what it has room for.
  void Write(const std::vector<Box>& boxes);
  // Makes what was written before worth nothing.
  void Forget() {
    all_ = false;
    boxes_.clear();
  }
  // A box of elements of `box` that the device has not written; nothing where it has written all.
  absl::optional<Box> Missing(int device, const Box& box) const;
  // Whether every device has written all that it has room for, with one instruction.
  bool IsAll() const { return all_; }

 private:
  program::KnownBoxes::List held_;
  bool all_ = false;             // every device has written all that it has room for
  std::vector<BoxUnion> boxes_;  // [device]: what it has written, unless all_; empty: nothing
};

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_WRITTEN_BOXES_H_
