// Solves the extents of a signature from the shapes of operands: ranks of packs first, then names,
// repeated names as checks, one unknown factor of a product by division.
#ifndef YUBA_OPSEMANTICS_ELABORATE_EXTENTS_H_
#define YUBA_OPSEMANTICS_ELABORATE_EXTENTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/bind.h"

namespace yuba {

// An extent or a pack of extents, as far as it is known.
struct Extent {
  bool pack = false;
  bool attribute = false;  // declared after the ';', not by a dimension
  int rank = 1;            // -1: not known yet
  std::vector<absl::optional<int64_t>> elements;
  std::vector<std::string> from;  // what said so, for messages
};

struct SolvedExtents {
  std::map<std::string, Extent> extents;
  std::vector<std::vector<BoundDim>> operands;  // parallel to the parameters; empty where absent
};

// `given` are integers known from attributes, by name: attributes that dimensions name, and extents
// that shapes alone do not settle (one element where it is no pack).
absl::StatusOr<SolvedExtents> SolveExtents(
    const OpDescription& op, const std::vector<absl::optional<Shape>>& operands,
    const std::map<std::string, std::vector<int64_t>>& given);

std::string ShapeText(const Shape& shape);  // "f32[2, 3]"

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_EXTENTS_H_
