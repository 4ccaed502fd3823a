// Small uses of a description, made from its signature alone: with them a new operator is tested,
// and shown by `yuba op`, the moment its text exists.
#ifndef YUBA_OPSEMANTICS_ELABORATE_SAMPLE_USES_H_
#define YUBA_OPSEMANTICS_ELABORATE_SAMPLE_USES_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/elaborate.h"

namespace yuba {

struct SampleUse {
  std::vector<absl::optional<Shape>> operands;
  Attributes attributes;
};

// Uses that elaborate, with even and uneven extents, packs of several ranks, attributes at their
// defaults and not, optional operands present and absent, broadcast dimensions of 1: together they
// have each such feature that some use of this size has. At most `most`, none whose definitions
// have more than `points` index points. The same for equal signatures.
std::vector<SampleUse> SampleUses(const OpDescription& op, int most = 12, int64_t points = 20000);

// How much a use tells of its operator.
using Telling = std::function<int64_t(const Instance&)>;

// Of many uses with extents so long that indices can be cut the one that tells most. An error, with
// its place in the description, where none elaborates.
absl::StatusOr<Instance> TellingInstance(const OpDescription& op, const Telling& telling);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_SAMPLE_USES_H_
