// The boxes between which one use of a tensor moves elements, and what each device then receives:
// from these a plan's bytes (opsemantics/base/transfers.h) and times (objective.h) are counted.
//
// Example: y = x w on 2 devices, w as [8/a, 6], read whole: each device has half of the rows and
// reads all of them, so it receives the other half, 24 elements, in one message.
#ifndef YUBA_SEARCH_PLAN_USE_BOXES_H_
#define YUBA_SEARCH_PLAN_USE_BOXES_H_

#include <vector>

#include "opsemantics/base/transfers.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/sharding/moved.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// [device]: what it has of an operand, and what it reads. Of partials that stay unreduced devices
// take only from their group (BoxesInGroups). `sharding`: of the tensor; `boxes`: AnalyzeNode of
// the node.
struct GatherBoxes {
  std::vector<Box> has, reads;
};
GatherBoxes GatherBoxesOf(const Definition& definition, int operand, const Mesh& mesh,
                          const Sharding& sharding, const NodeBoxes& boxes);

// What devices write of a result, and [device] what each is to own.
struct ReduceBoxes {
  Producers producers;
  std::vector<Box> own;
};
ReduceBoxes ReduceBoxesOf(const Definition& definition, const Mesh& mesh, const Sharding& sharding,
                          const NodeBoxes& boxes);

// [device]: what it receives before a node gathers operand `operand`, or, where that is below 0,
// after it reduces its result.
std::vector<Moved> MovedByUse(const Definition& definition, int operand, const Mesh& mesh,
                              const Sharding& sharding, const NodeBoxes& boxes);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_USE_BOXES_H_
