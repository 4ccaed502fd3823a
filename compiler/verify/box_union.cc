#include "compiler/verify/box_union.h"

#include <algorithm>

namespace yuba::compiler {
namespace {

// Up to so many boxes are looked at one after the other.
constexpr size_t kFewBoxes = 8;

int64_t CommonElements(const Box& a, const Box& b) {
  int64_t count = 1;
  for (size_t d = 0; d < a.size(); ++d) count *= Intersect(a[d], b[d]).size();
  return count;
}

}  // namespace

void BoxUnion::Append(Box box) {
  boxes_.push_back(std::move(box));
  if (boxes_.size() <= kFewBoxes) return;
  const size_t first = index_.empty() ? 0 : boxes_.size() - 1;
  index_.resize(boxes_[0].size());
  for (size_t i = first; i < boxes_.size(); ++i) {
    for (size_t d = 0; d < index_.size(); ++d) {
      const std::pair<int64_t, int> entry = {boxes_[i][d].begin, static_cast<int>(i)};
      std::vector<std::pair<int64_t, int>>& sorted = index_[d].sorted;
      sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), entry), entry);
      index_[d].longest = std::max(index_[d].longest, boxes_[i][d].size());
    }
  }
}

std::vector<const Box*> BoxUnion::Near(const Box& box) const {
  std::vector<const Box*> near;
  if (index_.empty()) {
    for (const Box& held : boxes_) near.push_back(&held);
    return near;
  }
  // Of each dimension those that begin late enough to reach into the box and before its end; the
  // dimension that leaves fewest.
  using Entry = std::vector<std::pair<int64_t, int>>::const_iterator;
  std::pair<Entry, Entry> fewest = {index_[0].sorted.begin(), index_[0].sorted.end()};
  for (size_t d = 0; d < index_.size(); ++d) {
    const auto& sorted = index_[d].sorted;
    const Entry from = std::lower_bound(sorted.begin(), sorted.end(),
                                        std::pair(box[d].begin - index_[d].longest + 1, 0));
    const Entry to = std::lower_bound(from, sorted.end(), std::pair(box[d].end, 0));
    if (to - from < fewest.second - fewest.first) fewest = {from, to};
  }
  for (Entry entry = fewest.first; entry != fewest.second; ++entry) {
    near.push_back(&boxes_[entry->second]);
  }
  return near;
}

int64_t BoxUnion::CountOf(const Box& box) const {
  int64_t count = 0;
  for (const Box* held : Near(box)) count += CommonElements(box, *held);
  return count;
}

std::vector<Box> BoxUnion::Rest(const Box& box) const {
  std::vector<Box> held;
  for (const Box* near : Near(box)) {
    if (CommonElements(box, *near) > 0) held.push_back(*near);
  }
  return SubtractAll(box, held);
}

void BoxUnion::Add(const Box& box) {
  if (IsEmpty(box)) return;
  const int64_t there = CountOf(box);
  if (there == Volume(box)) return;
  if (there == 0) return Append(box);
  if (std::all_of(boxes_.begin(), boxes_.end(),
                  [&](const Box& held) { return Contains(box, held); })) {
    boxes_ = {box};
    index_.clear();
    return;
  }
  for (Box& rest : Rest(box)) Append(std::move(rest));
}

bool BoxUnion::Touches(const Box& box) const { return !IsEmpty(box) && CountOf(box) > 0; }

absl::optional<Box> BoxUnion::Missing(const Box& box) const {
  if (IsEmpty(box) || CountOf(box) == Volume(box)) return absl::nullopt;
  return Rest(box).front();
}

}  // namespace yuba::compiler
