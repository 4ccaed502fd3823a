// A plan as a pairwise problem: which of the copies that it shares to keep.
//
// Example: q, k and v are three products of x [512/ab, 768], which a plan gathers once, into a copy
// that is whole. The problem has one variable of two values, the copy and the node that makes it. 0
// is the sharding of x: then the products gather x one by one. 1 is what the plan has: the copy
// gathers x, and the products read it in place. All other elements have one value.
#ifndef YUBA_SEARCH_MODEL_PLAN_PROBLEM_H_
#define YUBA_SEARCH_MODEL_PLAN_PROBLEM_H_

#include <cstdint>

#include "opsemantics/definition/graph.h"
#include "search/model/graph_problem.h"
#include "search/plan/plan.h"

namespace yuba::search {

// The plan in which each copy has the sharding of its tensor, and so moves nothing and needs no
// memory: each reader gathers for itself. Copies that pins demand stay as they are. The cost is
// that of these choices; space, bound and proof are those of `plan`.
Plan WithoutSharing(const Graph& graph, Plan plan);

// The problem between `plain` = WithoutSharing(graph, shared) and `shared`: a copy has the value 0
// where it is as in the one, 1 where it is as in the other. Costs are bytes moved in a step; the
// rows of memory (memory_rows.h) have no limit. No symmetries, no clusters. The readers of a copy
// keep their partitions, so the values of two copies do not depend on each other but for memory.
Problem ProblemOfCopies(const Graph& graph, const Plan& plain, const Plan& shared);

// The peak of the plan's rows, in bytes a device. Every program of the plan needs that much.
int64_t PeakOfPlan(const Graph& graph, const Plan& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_PLAN_PROBLEM_H_
