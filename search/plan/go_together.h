// Which choices of a node and of a tensor that it reads or writes some plan has together: what the
// pairs of tables, and plans that were read, are held to.
//
// Example: an accumulator whose node is cut as i0/a group/b adds up partials that are stored as
// [4/a]; no plan has others.
#ifndef YUBA_SEARCH_PLAN_GO_TOGETHER_H_
#define YUBA_SEARCH_PLAN_GO_TOGETHER_H_

#include "opsemantics/definition/definition.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// Whether a plan may have this partition of a node and this sharding of its operand, or of its
// result (operand -1): a copy is sharded as its node is, partials as their accumulator or in its
// groups. All else goes together. `is_copy`: whether the result is a copy.
bool GoTogether(const Definition& definition, int operand, bool is_copy, const Sharding& partition,
                const Sharding& tensor);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_GO_TOGETHER_H_
