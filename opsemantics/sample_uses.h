// Small uses of a description, made from its signature alone: with them a new operator is tested,
// and shown by `yuba op`, the moment its text exists.
#ifndef YUBA_OPSEMANTICS_SAMPLE_USES_H_
#define YUBA_OPSEMANTICS_SAMPLE_USES_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/elaborate.h"

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

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_SAMPLE_USES_H_
