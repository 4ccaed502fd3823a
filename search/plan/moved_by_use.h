// What each device receives in one use of a tensor, from boxes alone: the price of a use in time
// (objective.h) follows from it, as its bytes do from opsemantics/base/transfers.h.
//
// Example: y = x w on 2 devices, w as [8/a, 6], read whole: each device receives the other half,
// 24 elements, in one message.
#ifndef YUBA_SEARCH_PLAN_MOVED_BY_USE_H_
#define YUBA_SEARCH_PLAN_MOVED_BY_USE_H_

#include <vector>

#include "opsemantics/base/moved.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// [device]: what it receives before a node gathers operand `operand`, or, where that is below 0,
// after it reduces its result. `sharding`: of the tensor; `boxes`: AnalyzeNode of the node. Of
// tensors that hold partials which stay unreduced devices exchange within their groups.
std::vector<Moved> MovedByUse(const Definition& definition, int operand, const Mesh& mesh,
                              const Sharding& sharding, const NodeBoxes& boxes);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_MOVED_BY_USE_H_
