// Solves the extents of a signature from the shapes of the operands: first the ranks of packs
// (pack_ranks.h), then the extent of each name. A name that occurs again is a check; one unknown
// factor of a dimension follows by division; a name that only broadcast dimensions have is the
// first extent of them that is not 1. Extents that do not fit, or cannot be told, are a user's
// errors.
//
// Example: x[b, (g ci)] on f32[2, 12] and w[(g co), ci] on f32[6, 4] gives b = 2 and ci = 4, then
// g = 12 / 4 = 3 and co = 6 / 3 = 2.
#ifndef YUBA_OPSEMANTICS_ELABORATE_EXTENTS_H_
#define YUBA_OPSEMANTICS_ELABORATE_EXTENTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/bound_dim.h"
#include "opsemantics/elaborate/pack_ranks.h"

namespace yuba {

struct SolvedExtents {
  Extents extents;
  std::vector<std::vector<BoundDim>> operands;  // parallel to the parameters; empty where absent
};

// `given` are integers that attributes settle, by name: attributes that dimensions name, and
// extents that shapes alone do not settle. It has one element for a name that is no pack.
// `operands` are as of Elaborate, one entry for each operand.
absl::StatusOr<SolvedExtents> SolveExtents(
    const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
    const std::map<std::string, std::vector<int64_t>>& given);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_EXTENTS_H_
