// Where the terms of a body are computed. A term that is used more than once is computed once, at
// the nearest place that dominates its uses, and never at points at which none of them is: what a
// condition on indices guards may read outside of the buffers at other points.
//
// The places are *regions*: the whole body, the sides of each branch, and the insides of guards.
// Each is inside of another. A term that is used in several regions is computed when the nearest
// region around all of them is entered, before any branch in it:
//
//   if i < 4 then t * 2 else t + 1     t is needed either way: before the branch
//   t + (if i < 4 then t else 0)       needed anyway: before the branch
//   (if i < 4 then t else 0) * (if i > 2 then t else 1)
//                                      needed where one of the conditions holds: before both
//                                      branches, in a guard, if t reads a tensor
//
// Nothing here knows MLIR; kernel_builder.h emits what it says.
#ifndef YUBA_COMPILER_KERNELS_PLACEMENT_H_
#define YUBA_COMPILER_KERNELS_PLACEMENT_H_

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba::kernels {

// A term that is computed when a region is entered. `guard`: the region that it is computed in,
// which is entered only where the term is needed; -1: it is computed at once.
struct Hoisted {
  const Expr* term = nullptr;
  int guard = -1;
};

struct Region {
  enum Kind : uint8_t {
    kBody,
    kTrue,   // where the condition of the select `owner` holds
    kFalse,  // where it does not; or outside of the operand that the read `owner` reads
    kGuard   // where one of the regions `uses` needs the term `owner`
  };
  Kind kind = kBody;
  int parent = -1;  // the region around it, whose number is lower
  const Expr* owner = nullptr;
  std::vector<int> uses;         // kGuard; their numbers are lower
  std::vector<Hoisted> hoisted;  // each after those that it uses
};

class Placement {
 public:
  // `branches`: whether a select, or a read with `else`, is a branch of which one side alone is
  // computed. Equal terms of `root` are one node; it must outlive the placement.
  Placement(const ExprPtr& root, const std::function<bool(const Expr&)>& branches);

  const std::vector<Region>& regions() const { return regions_; }  // the body is the first
  // The region of one side of a branch.
  int Side(const Expr& branch, bool taken) const { return sides_.at({&branch, taken}); }

 private:
  int AddRegion(Region region);
  int Common(int a, int b) const;
  // The innermost region around all of `uses`, and whether each entry of it needs the term.
  std::pair<int, bool> PlaceOf(std::vector<int> uses) const;
  // Decides where `node`, used in these regions, is computed.
  int RegionFor(const Expr& node, const std::vector<int>& uses, bool reads);

  std::vector<Region> regions_;
  std::map<std::pair<const Expr*, bool>, int> sides_;
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_PLACEMENT_H_
