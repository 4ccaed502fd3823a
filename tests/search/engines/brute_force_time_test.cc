// The search for the least time against an enumeration of all plans, whose exchanges are told by
// marking elements one by one.

#include <catch2/catch.hpp>
#include <iostream>
#include <random>

#include "search/check/check.h"
#include "search/plan/kernel_time.h"
#include "search/rewrite/copies.h"
#include "search/search.h"
#include "tests/support/engines.h"
#include "tests/support/enumeration.h"
#include "tests/support/kinds.h"
#include "tests/support/machines.h"
#include "tests/support/part.h"
#include "tests/support/random_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

struct Tally {
  int compared = 0, proven = 0, other_than_bytes = 0;
  double gap = 0, grid_gap = 0;
};

void CheckAgainst(int64_t least, const Graph& graph, const SearchOptions& options, bool exact,
                  double* gap) {
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->lower_bound <= least);
  CHECK(plan->value() >= least);
  if (exact) CHECK(plan->value() == least);
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  *gap += 1 - static_cast<double>(plan->lower_bound) / static_cast<double>(plan->value());
}

void Compare(const Graph& bare, const Mesh& mesh, TriedSpace space, std::mt19937& random,
             Tally& tally) {
  std::vector<double> latencies, bandwidths;
  for (int kind = 0; kind < mesh.kinds(); ++kind) {
    latencies.push_back(1e-9 * static_cast<double>(random() % 60));
    bandwidths.push_back(1e8 * static_cast<double>(1 + random() % 50));
  }
  // Kernels of up to some hundred nanoseconds, as exchanges.
  const double memory = 1e9 * static_cast<double>(1 + random() % 20);
  const Objective time(ObjectiveKind::kTime, MachineFor(mesh, latencies, bandwidths, memory));
  const Graph graph = space.copies ? WithCopies(bare) : bare;
  TriedPrices prices;
  prices.exchange = [&](const std::vector<Moved>& moved) { return time.Exchange(moved); };
  prices.kernel = [&](NodeId node, const Sharding& partition) {
    return KernelTime(bare, node, GridOf(partition, mesh), time);
  };
  space.prices = &prices;
  const TriedPlans tried = TryAllPlans(bare, mesh, space, 3000);
  if (tried.least < 0) return;
  SearchOptions options;
  options.mesh = mesh;
  options.objective = time;
  if (space.replicate) options.replicate = Replicate::kAuto;
  ++tally.compared;
  CheckAgainst(tried.least, graph, options, true, &tally.gap);
  if (space.replicate) return;
  CheckAgainst(tried.least, graph, Only(options, {"grids", "axes"}), false, &tally.grid_gap);
  options.objective = Objective(ObjectiveKind::kBytes, time.machine());
  const absl::StatusOr<Plan> bytes = Search(graph, options);
  REQUIRE_THAT(bytes, IsOk());
  CHECK(bytes->time.all() >= tried.least);
  tally.other_than_bytes += bytes->time.all() > tried.least;
}

void CompareRandom(const TriedSpace& space, const std::vector<Mesh>& meshes, int count) {
  Tally tally;
  std::mt19937 random(5);
  for (const Mesh& mesh : meshes) {
    RandomGraphs graphs(mesh.devices(), mesh.devices());
    for (int i = 0; i < Part(count); ++i) {
      CAPTURE(mesh.devices(), mesh.kinds(), i);
      Compare(graphs.Next(), mesh, space, random, tally);
    }
  }
  std::cout << tally.compared << " graphs; mean gap " << tally.gap / tally.compared << ", on grids "
            << tally.grid_gap / tally.compared << "; the plan of fewest bytes is slower on "
            << tally.other_than_bytes << "\n";
  CHECK(tally.compared >= Part(count));
}

TEST_CASE("times against enumeration on links of one kind") {
  CompareRandom(TriedSpace(), {MeshOf(2), MeshOf(3), MeshOf(4), MeshOf(6)}, 100);
}

TEST_CASE("times against enumeration on links of two kinds") {
  CompareRandom(TriedSpace(), {MeshOfKinds(4, {1, 0}), MeshOfKinds(6, {1, 0})}, 150);
}

TEST_CASE("times with copies against enumeration") {
  TriedSpace space;
  space.copies = true;
  CompareRandom(space, {MeshOf(4), MeshOfKinds(4, {1, 0})}, 100);
}

TEST_CASE("times with replicas against enumeration") {
  TriedSpace space;
  space.replicate = true;
  CompareRandom(space, {MeshOf(2), MeshOf(4), MeshOfKinds(4, {1, 0})}, 60);
}

}  // namespace
}  // namespace yuba::search
