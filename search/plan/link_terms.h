// Costs of time by two grids as the sum of two terms, where a table of all pairs would be wide.
//
// The *near* term is what a use costs if all its bytes cross links of the innermost kind alone,
// with the messages of all kinds. It counts on parts, whatever the kinds of the axes that make
// them. The *far* term is what bytes that cross links of outer kinds cost more; it depends on the
// parts that axes of outer kinds make of the side that has what is needed (a read tensor, or what
// nodes write). So grids are in few classes: for the near term those of the side that needs, for
// the far term those of the side that has. Each term is rounded so that both together are no more
// than the cost of one table (Relaxed of search/cost/use_costs.h), and so bounds.
//
// Example: on 128 nodes of 8 devices a tensor of 4 dimensions has 120 * 20 grids, in 286 classes of
// parts and 120 of outer parts. Whole tables have 5.8 M cells, the two terms 1.0 M.
#ifndef YUBA_SEARCH_PLAN_LINK_TERMS_H_
#define YUBA_SEARCH_PLAN_LINK_TERMS_H_

#include <cstdint>

#include "opsemantics/definition/definition.h"
#include "search/plan/objective.h"

namespace yuba::search {

enum class LinkTerm : uint8_t { kAll, kNear, kFar };

// Tables with more cells are sums of two terms. On 8 nodes of 8 devices the bound of an 8-layer
// Llama then is 0.2 % lower, and with all tables as sums 0.9 %.
inline constexpr int64_t kMostWholeCells = int64_t{1} << 17;

// Whether the costs of operand `operand`, below 0 the result, by so many grids of both sides are a
// sum of terms. Those of partials, which move within groups of devices, never are.
inline bool IsSumOfTerms(const Objective& objective, int kinds, const Definition& definition,
                         int operand, int64_t tensor_grids, int64_t node_grids) {
  const bool partials = operand < 0 ? definition.partial : ReadsPartials(definition, operand);
  return objective.IsTime() && kinds > 1 && !partials &&
         tensor_grids * node_grids > kMostWholeCells;
}

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_LINK_TERMS_H_
