// Small uses of a description, made from its signature alone: shapes and attributes that elaborate.
// With them a new operator is tested, and shown by `yuba op`, the moment its text exists. Draws are
// from a fixed sequence: equal signatures give equal uses on every machine.
#ifndef YUBA_OPSEMANTICS_ELABORATE_SAMPLE_USES_H_
#define YUBA_OPSEMANTICS_ELABORATE_SAMPLE_USES_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/elaborate.h"

namespace yuba {

// Arguments of Elaborate.
struct SampleUse {
  std::vector<absl::optional<Shape>> operands;
  Attributes attributes;
};

// At most `most` uses that elaborate. Features are: even and uneven extents, ranks of packs,
// attributes at their defaults and not, optional operands present and absent, broadcast dimensions
// of 1. Each use but the first has a feature that no use before it has. No definition has more than
// `points` index points, and none has no points.
std::vector<SampleUse> SampleUses(const OpDescription& op, int most = 12, int64_t points = 20000);

// How much an instance shows of its operator; more is better.
using Telling = std::function<int64_t(const Instance&)>;

// Of many uses, with extents so long that indices can be cut, the one that shows most. Where none
// elaborates it is the most telling of their errors, with its place in the description.
absl::StatusOr<Instance> TellingInstance(const OpDescription& op, const Telling& telling);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_SAMPLE_USES_H_
