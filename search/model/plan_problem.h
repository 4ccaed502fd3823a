// What a plan needs of memory, as far as the search can count it, and what it would be without its
// copies.
//
// Example: q, k and v are three products of x [512/ab, 768], which a plan gathers once, into a copy
// that is whole. Without sharing the copy has the sharding of x, and the products gather x one by
// one: that moves x three times and holds less.
#ifndef YUBA_SEARCH_MODEL_PLAN_PROBLEM_H_
#define YUBA_SEARCH_MODEL_PLAN_PROBLEM_H_

#include <cstdint>

#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"

namespace yuba::search {

// The plan in which each copy has the sharding of its tensor, and so moves nothing and needs no
// memory: each reader gathers for itself. Copies that pins demand stay as they are. The cost is
// that of these choices; space, bound and proof are those of `plan`.
Plan WithoutSharing(const Graph& graph, Plan plan);

// How many copies the plan shares: those that are not sharded as their tensors.
int SharedCopies(const Graph& graph, const Plan& plan);

// The peak of the plan's rows, in bytes a device. Every program of the plan needs that much.
int64_t PeakOfPlan(const Graph& graph, const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_PLAN_PROBLEM_H_
