// The search on a small graph against the cheapest of all its plans.
#ifndef YUBA_TESTS_SUPPORT_AGAINST_ENUMERATION_H_
#define YUBA_TESTS_SUPPORT_AGAINST_ENUMERATION_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"
#include "search/search.h"
#include "tests/support/enumeration.h"

namespace yuba::search {

// The default search on so many devices, with replicas where the space has them.
SearchOptions OptionsFor(const TriedSpace& space, int devices);

// A graph that was planned by the search and by trying all plans.
struct Compared {
  Graph graph;  // with the copies that the search may use
  SearchOptions options;
  int64_t least = 0;  // bytes of the cheapest plan
  double plans = 0;   // how many were tried
  Plan plan;          // of the search

  bool IsProven() const { return plan.lower_bound == plan.cost.bytes(); }
};

// Plans `bare` both ways. Checks that the plan of the search costs the least, by marking too, that
// its bound is not higher, and that the checker accepts it. Nothing where there are more than
// `limit` combinations of partitions to try.
absl::optional<Compared> CompareWithAllPlans(const Graph& bare, const TriedSpace& space,
                                             const SearchOptions& options, int64_t limit = 20000);

// Checks that the engines for many devices claim no higher bound and no lower cost than the least.
void CompareGrids(const Compared& compared);

}  // namespace yuba::search

#endif  // YUBA_TESTS_SUPPORT_AGAINST_ENUMERATION_H_
