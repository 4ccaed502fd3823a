// What devices need of a tensor, or make of it, under choices of a node.
#ifndef YUBA_SEARCH_CHECK_READS_H_
#define YUBA_SEARCH_CHECK_READS_H_

#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/sharding/sharding.h"
#include "search/check/device_boxes.h"
#include "search/plan/choice.h"

namespace yuba::search {

// What the node needs of operand `operand`, or, where that is -1, makes of its result under those
// of its `cuts` that `which` names: box `i * devices + device` is that of choice `which[i]`. Boxes
// are put together from the factors of the definition (box_factors.h).
BoxSet BoxesUnder(const Mesh& mesh, const Definition& definition, int operand,
                  const std::vector<Choice>& choices, const std::vector<int>& which);

// Into how many parts the choice takes the reduction.
int ReductionParts(const Mesh& mesh, const Definition& definition, const Choice& choice);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_READS_H_
