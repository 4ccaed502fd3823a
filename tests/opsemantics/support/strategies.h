// All partitions of one definition that tests try, and its parts run one by one by the interpreter,
// for tests that compare parts with the whole.
#ifndef YUBA_TESTS_OPSEMANTICS_SUPPORT_STRATEGIES_H_
#define YUBA_TESTS_OPSEMANTICS_SUPPORT_STRATEGIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/oracle/interpret.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

// The partitions (Partition and Sharding are one type) that cut: each index over all axes; each
// index over all axes but the first, along which devices then compute the same; each pair of
// indices, one over the first axis and the other over the rest. Only indices that may be cut
// (CuttableIndices), and into at most as many parts as they have elements.
std::vector<Sharding> Strategies(const Definition& definition, const Mesh& mesh);

// The partition as "i/a j/bc", for messages.
std::string ShardingText(const Definition& definition, const Sharding& sharding, const Mesh& mesh);

// [operand]: a value whose elements follow from `seed` and their position alone. Floats lie in (0,
// 2), integers in [0, 7), bools in [0, 2).
std::vector<TensorValue> MadeUpOperands(const Definition& definition, Arithmetic arithmetic,
                                        uint64_t seed);

// The result when the definition runs whole.
TensorValue RunWhole(const Definition& definition, Arithmetic arithmetic,
                     const std::vector<TensorValue>& operands);

// The result when every device runs its part on operands that are poison outside its read boxes,
// and the partials are combined in ascending order. Replicas run once.
TensorValue RunInParts(const Definition& definition, const NodeBoxes& boxes, Arithmetic arithmetic,
                       const std::vector<TensorValue>& operands);

// [operand]: the bounding box of the elements that the part with these ranges reads.
std::vector<Box> LoggedBoxes(const Definition& definition, const std::vector<Interval>& ranges,
                             const std::vector<TensorValue>& operands);

// Empty where the two are equal bit for bit (hash arithmetic, integers) or up to a relative
// difference of `tolerance` (floats); else the first difference.
std::string FirstDifference(const TensorValue& a, const TensorValue& b, Arithmetic arithmetic,
                            double tolerance);

}  // namespace yuba

#endif  // YUBA_TESTS_OPSEMANTICS_SUPPORT_STRATEGIES_H_
