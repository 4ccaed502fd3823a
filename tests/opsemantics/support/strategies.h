// Every way to try a sharding of one definition, and its parts run one by one, for tests that
// compare parts with the whole.
#ifndef YUBA_TESTS_OPSEMANTICS_SUPPORT_STRATEGIES_H_
#define YUBA_TESTS_OPSEMANTICS_SUPPORT_STRATEGIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/oracle/interpret.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

// Each index that can be cut over all axes; each over all axes but one, the rest computed alike;
// each pair over the axes both ways. Indices are cut only into as many parts as they have elements.
std::vector<Sharding> Strategies(const Definition& definition, const Mesh& mesh);

// "i/a j/bc": for messages.
std::string ShardingText(const Definition& definition, const Sharding& sharding, const Mesh& mesh);

// A value for each operand, from `seed` and the position alone. Floats lie in (0, 2), integers in
// [0, 7).
std::vector<TensorValue> MadeUpOperands(const Definition& definition, Arithmetic arithmetic,
                                        uint64_t seed);

// What the definition gives when it runs whole.
TensorValue RunWhole(const Definition& definition, Arithmetic arithmetic,
                     const std::vector<TensorValue>& operands);

// What it gives when every device runs its part on operands that are poison outside its read boxes,
// and the parts are combined in the order of their numbers.
TensorValue RunInParts(const Definition& definition, const NodeBoxes& boxes, Arithmetic arithmetic,
                       const std::vector<TensorValue>& operands);

// For each operand the bounding box of what the piece reads.
std::vector<Box> LoggedBoxes(const Definition& definition, const std::vector<Interval>& ranges,
                             const std::vector<TensorValue>& operands);

// Empty where the two are equal bit for bit (hash arithmetic, integers) or up to a relative
// difference of `tolerance` (floats); else the first difference.
std::string FirstDifference(const TensorValue& a, const TensorValue& b, Arithmetic arithmetic,
                            double tolerance);

}  // namespace yuba

#endif  // YUBA_TESTS_OPSEMANTICS_SUPPORT_STRATEGIES_H_
