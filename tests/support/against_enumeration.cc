#include "tests/support/against_enumeration.h"

#include <catch2/catch.hpp>
#include <utility>

#include "search/check/check.h"
#include "search/rewrite/copies.h"
#include "tests/support/engines.h"
#include "tests/support/marking.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {

SearchOptions OptionsFor(const TriedSpace& space, int devices) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  if (space.replicate) options.replicate = Replicate::kAuto;
  return options;
}

absl::optional<Compared> CompareWithAllPlans(const Graph& bare, const TriedSpace& space,
                                             const SearchOptions& options, int64_t limit) {
  const TriedPlans tried = TryAllPlans(bare, options.mesh, space, limit);
  if (tried.least < 0) return absl::nullopt;
  Compared compared;
  compared.graph = space.copies ? WithCopies(bare) : bare;
  compared.options = options;
  compared.least = tried.least;
  compared.plans = tried.plans;
  absl::StatusOr<Plan> plan = Search(compared.graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->lower_bound <= tried.least);
  CHECK(plan->cost.bytes() == tried.least);
  CHECK(MarkedBytes(compared.graph, options.mesh, ShardingsOf(plan->tensors),
                    ShardingsOf(plan->nodes)) == tried.least);
  CHECK_THAT(CheckPlan(compared.graph, *plan), IsOk());
  compared.plan = *std::move(plan);
  return compared;
}

void CompareGrids(const Compared& compared) {
  const absl::StatusOr<Plan> plan =
      Search(compared.graph, Only(compared.options, {"grids", "axes"}));
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->lower_bound <= compared.least);
  CHECK(plan->cost.bytes() >= compared.least);
  CHECK_THAT(CheckPlan(compared.graph, *plan), IsOk());
}

}  // namespace yuba::search
