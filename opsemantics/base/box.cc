#include "opsemantics/base/box.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"

namespace yuba {

Interval Intersect(const Interval& a, const Interval& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

Interval Hull(const Interval& a, const Interval& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

Box WholeBox(absl::Span<const int64_t> extents) {
  Box box;
  for (int64_t extent : extents) box.push_back({0, extent});
  return box;
}

int64_t Volume(const Box& box) {
  int64_t volume = 1;
  for (const Interval& interval : box) volume *= interval.size();
  return volume;
}

bool IsEmpty(const Box& box) {
  return std::any_of(box.begin(), box.end(), [](const Interval& i) { return i.empty(); });
}

bool Contains(const Box& outer, const Box& inner) {
  if (IsEmpty(inner)) return true;
  for (size_t d = 0; d < inner.size(); ++d) {
    if (!outer[d].Contains(inner[d])) return false;
  }
  return true;
}

bool SameSet(const Box& a, const Box& b) { return (IsEmpty(a) && IsEmpty(b)) || a == b; }

Box Intersect(const Box& a, const Box& b) {
  YUBA_CHECK(a.size() == b.size());
  Box box;
  for (size_t d = 0; d < a.size(); ++d) box.push_back(Intersect(a[d], b[d]));
  return box;
}

Box Hull(const Box& a, const Box& b) {
  if (IsEmpty(a)) return b;
  if (IsEmpty(b)) return a;
  Box box;
  for (size_t d = 0; d < a.size(); ++d) box.push_back(Hull(a[d], b[d]));
  return box;
}

std::vector<Box> Subtract(const Box& a, const Box& b) {
  if (IsEmpty(a)) return {};
  const Box common = Intersect(a, b);
  if (IsEmpty(common)) return {a};
  std::vector<Box> rest;
  Box middle = a;  // shrinks to `common`, one dimension after the other
  for (size_t d = 0; d < a.size(); ++d) {
    for (const Interval& side :
         {Interval{middle[d].begin, common[d].begin}, Interval{common[d].end, middle[d].end}}) {
      if (side.empty()) continue;
      rest.push_back(middle);
      rest.back()[d] = side;
    }
    middle[d] = common[d];
  }
  return rest;
}

std::vector<Box> SubtractAll(const Box& box, absl::Span<const Box> covered) {
  std::vector<Box> rest;
  if (!IsEmpty(box)) rest.push_back(box);
  for (const Box& cover : covered) {
    std::vector<Box> next;
    for (const Box& remaining : rest) {
      for (Box& outside : Subtract(remaining, cover)) next.push_back(std::move(outside));
    }
    rest = std::move(next);
  }
  return rest;
}

std::string ToString(const Interval& interval) {
  return absl::StrCat("[", interval.begin, ", ", interval.end, ")");
}

std::string ToString(const Box& box) {
  return absl::StrJoin(box, " x ", [](std::string* out, const Interval& interval) {
    absl::StrAppend(out, ToString(interval));
  });
}

Interval PartOf(int64_t extent, int64_t parts, int64_t part) {
  return {part * extent / parts, (part + 1) * extent / parts};
}

}  // namespace yuba
