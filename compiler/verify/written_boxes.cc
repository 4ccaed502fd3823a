#include "compiler/verify/written_boxes.h"

namespace yuba::compiler {

void WrittenBoxes::Write(const std::vector<Box>& boxes) {
  if (all_) return;
  all_ = &boxes == held_.get() || boxes == *held_;
  if (all_) {
    boxes_.clear();
    return;
  }
  boxes_.resize(held_->size());
  for (size_t device = 0; device < boxes.size(); ++device) boxes_[device].Add(boxes[device]);
}

absl::optional<Box> WrittenBoxes::Missing(int device, const Box& box) const {
  if (!all_) return boxes_.empty() ? BoxUnion().Missing(box) : boxes_[device].Missing(box);
  if (IsEmpty(box) || Contains((*held_)[device], box)) return absl::nullopt;
  BoxUnion held;
  held.Add((*held_)[device]);
  return held.Missing(box);
}

}  // namespace yuba::compiler
