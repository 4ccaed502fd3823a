// The boxes that devices read of a tensor, or write of it, under many choices of a node. A part's
// box is made once for all devices and choices that share it: of matmul partition m/ab n/c, four
// boxes of the first operand for eight devices.
#ifndef YUBA_SEARCH_CHECK_READS_H_
#define YUBA_SEARCH_CHECK_READS_H_

#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/sharding/sharding.h"
#include "search/check/device_boxes.h"
#include "search/check/overlap.h"
#include "search/plan/choice.h"

namespace yuba::search {

// The boxes that a node reads of operand `operand`, or, where that is -1, writes of its result: box
// `i * devices + device` is that of choice `choices[which[i]]` on that device. They are put
// together from the factors of the definition (opsemantics/regions/box_factors.h).
BoxSet BoxesUnder(const Mesh& mesh, const Definition& definition, int operand,
                  const std::vector<Choice>& choices, const std::vector<int>& which);

// Into how many parts the choice cuts the reduction indices, all together; 1: no partials.
int ReductionParts(const Mesh& mesh, const Definition& definition, const Choice& choice);

// Bytes that a use of a tensor moves. `held`: the elements of the boxes of all devices; of a
// reduction those that one device of each part writes. `kept`: how many of what arrives devices
// have themselves. `owners`: how many devices have each element of the tensor. `sums`: the node
// writes partials, which are added up. Below 0 only where `kept` is a bound that is too high.
// - What is read arrives, and what a node writes as partials of a later node.
// - Partials that are added up arrive at first owners in the accumulator's type, and their sum at
//   the other owners in the tensor's.
// - What is written as a whole arrives at every owner, and so do all elements of an accumulator's
//   partials that are cut in another way.
Large MovedBytes(const Definition& definition, int operand, bool sums, Large held, int64_t kept,
                 const TensorType& type, int64_t owners);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_READS_H_
