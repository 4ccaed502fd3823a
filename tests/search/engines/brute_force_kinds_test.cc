// The search on meshes of several kinds of axes against an enumeration of all plans.
//
// Bytes do not depend on kinds, so the cheapest plan costs what it costs on axes of one kind. What
// could go wrong is that something takes an axis for one of another kind.

#include <catch2/catch.hpp>
#include <iostream>
#include <numeric>
#include <random>

#include "search/check/check.h"
#include "search/search.h"
#include "search/space/symmetry.h"
#include "tests/support/against_enumeration.h"
#include "tests/support/engines.h"
#include "tests/support/kinds.h"
#include "tests/support/part.h"
#include "tests/support/random_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// The results of comparing many graphs.
struct Tally {
  int compared = 0;  // graphs that were small enough to try all plans
  int proven = 0;    // graphs whose plan's bound is its cost
  int renamed = 0;   // plans with axes of one class exchanged
  int changed = 0;   // of those, others than the plan itself
};

// With axes of one class exchanged a plan costs the same and its proof holds.
void Rename(const Compared& compared, Tally& tally) {
  const Mesh& mesh = compared.options.mesh;
  std::vector<int> axes(mesh.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  for (const AxisPermutation& permutation : AxisSymmetries(mesh, axes, 100)) {
    Plan renamed = compared.plan;
    for (Choices* choices : {&renamed.tensors, &renamed.nodes}) {
      for (Choice& choice : *choices) choice = RenameAxes(choice, permutation);
    }
    CHECK_THAT(CheckPlan(compared.graph, renamed), IsOk());
    ++tally.renamed;
    tally.changed += renamed.nodes != compared.plan.nodes;
  }
}

void Compare(const Graph& graph, const TriedSpace& space, const Mesh& mesh, Tally& tally) {
  SearchOptions options = OptionsFor(space, mesh.devices());
  options.mesh = mesh;
  options.check_bound = [](const Graph& of, const Plan& claim) {
    CHECK_THAT(CheckProof(of, claim), IsOk());
  };
  const auto compared = CompareWithAllPlans(graph, space, options, 20000);
  if (!compared.has_value()) return;
  ++tally.compared;
  tally.proven += compared->IsProven();
  Rename(*compared, tally);
  if (space.replicate) return;
  CompareGrids(*compared);
}

TEST_CASE("random graphs on random kinds of axes against enumeration") {
  for (const auto& [replicate, copies] :
       {std::pair(false, false), std::pair(true, false), std::pair(false, true)}) {
    TriedSpace space;
    space.replicate = replicate;
    space.copies = copies;
    Tally tally;
    std::mt19937 random(8);
    for (int devices : {4, 6, 8}) {
      RandomGraphs graphs(200 + devices, devices);
      for (int i = 0; i < Part(80); ++i) {
        const Mesh mesh = MeshOfRandomKinds(devices, 2, random);
        CAPTURE(devices, i, replicate, copies);
        Compare(graphs.Next(), space, mesh, tally);
      }
    }
    std::cout << tally.compared << " random graphs on axes of two kinds; gap 0 on " << tally.proven
              << "; " << tally.renamed << " plans renamed, " << tally.changed
              << " of them to others\n";
    CHECK(tally.compared >= Part(100));
    CHECK(tally.proven >= 0.95 * tally.compared);
    CHECK(tally.changed >= Part(30));
  }
}

}  // namespace
}  // namespace yuba::search
