#include "compiler/verify/box_union.h"

#include <algorithm>
#include <utility>

namespace yuba::compiler {

void BoxUnion::Add(const Box& box) {
  if (IsEmpty(box)) return;
  if (std::all_of(boxes_.begin(), boxes_.end(),
                  [&](const Box& held) { return Contains(box, held); })) {
    boxes_ = {box};  // the usual case: one box is everything
    return;
  }
  for (Box& rest : SubtractAll(box, boxes_)) boxes_.push_back(std::move(rest));
}

bool BoxUnion::Touches(const Box& box) const {
  return std::any_of(boxes_.begin(), boxes_.end(),
                     [&](const Box& held) { return !IsEmpty(Intersect(box, held)); });
}

absl::optional<Box> BoxUnion::Missing(const Box& box) const {
  const std::vector<Box> rest = SubtractAll(box, boxes_);
  if (rest.empty()) return absl::nullopt;
  return rest.front();
}

}  // namespace yuba::compiler
