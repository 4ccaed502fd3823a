// The search with pins against an enumeration of all plans that meet them.

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <numeric>
#include <random>

#include "search/check/check.h"
#include "search/search.h"
#include "tests/support/against_enumeration.h"
#include "tests/support/enumeration.h"
#include "tests/support/kinds.h"
#include "tests/support/marking.h"
#include "tests/support/part.h"
#include "tests/support/random_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// What pins demand, read as pin.h says it: the wanted axes in their order, others where they may
// be.
bool IsAllowed(const Demands& demands, const Sharding& sharding) {
  for (size_t e = 0; e < demands.size(); ++e) {
    size_t met = 0;
    const AxisList& wanted = demands[e].axes;
    for (const uint8_t axis : sharding.axes[e]) {
      if (met < wanted.size() && wanted[met] == axis)
        ++met;
      else if (!demands[e].others)
        return false;
    }
    if (met < wanted.size()) return false;
  }
  return true;
}

// A pin that some legal choice of these extents meets: of each extent its axes, some of them or
// any.
Pin RandomPin(bool is_node, int id, const Mesh& mesh, const std::vector<int64_t>& extents,
              std::mt19937& random) {
  const std::vector<Sharding> choices = TriedChoices(mesh, extents);
  Pin pin{is_node, id, {}, ""};
  for (const AxisList& axes : choices[random() % choices.size()].axes) {
    Demand demand{axes, random() % 2 == 0};
    if (demand.others && !axes.empty() && random() % 2 == 0) demand.axes.pop_back();
    if (demand.others && random() % 3 == 0) demand.axes.clear();
    pin.demands.push_back(std::move(demand));
  }
  return pin;
}

// Pins of one to three elements, no two of the same.
std::vector<Pin> RandomPins(const Graph& graph, const Mesh& mesh, std::mt19937& random) {
  std::vector<int> elements(graph.tensors.size() + graph.nodes.size());
  std::iota(elements.begin(), elements.end(), 0);
  std::shuffle(elements.begin(), elements.end(), random);
  elements.resize(1 + random() % 3);
  std::vector<Pin> pins;
  const int tensors = static_cast<int>(graph.tensors.size());
  for (const int element : elements) {
    const bool is_node = element >= tensors;
    const int id = is_node ? element - tensors : element;
    std::vector<int64_t> extents;
    if (is_node) {
      for (const Index& index : graph.nodes[id].definition->indices)
        extents.push_back(index.extent);
    } else {
      extents = graph.tensors[id].type.dims;
    }
    pins.push_back(RandomPin(is_node, id, mesh, extents, random));
  }
  return pins;
}

// The results of comparing many graphs.
struct Tally {
  int compared = 0;   // graphs that were small enough to try all plans
  int proven = 0;     // graphs whose plan's bound is its cost
  int pins_cost = 0;  // graphs whose best plan does not meet the pins
  double plans = 0;   // plans tried
};

// The pinned search against all plans that meet the pins: the plan is the cheapest of them, and
// each bound on the way, on tables and on grids, is of them and proved.
void ComparePinned(const Graph& graph, int devices, const TriedSpace& unpinned, int64_t limit,
                   std::mt19937& random, Tally& tally) {
  SearchOptions options = OptionsFor(unpinned, devices);
  options.mesh = MeshOfRandomKinds(devices, 1 + static_cast<int>(random() % 2), random);
  options.pins = RandomPins(graph, options.mesh, random);
  TriedSpace space = unpinned;
  space.allows = [&](size_t element, const Sharding& sharding) {
    return std::all_of(options.pins.begin(), options.pins.end(), [&](const Pin& pin) {
      const size_t of = pin.is_node ? graph.tensors.size() + pin.id : pin.id;
      return of != element || IsAllowed(pin.demands, sharding);
    });
  };
  options.check_bound = [](const Graph& of, const Plan& claim) {
    CHECK_THAT(CheckProof(of, claim), IsOk());
  };
  const auto compared = CompareWithAllPlans(graph, space, options, limit);
  if (!compared.has_value()) return;
  ++tally.compared;
  tally.plans += compared->plans;
  tally.proven += compared->IsProven();
  if (unpinned.replicate) return;
  CompareGrids(*compared);
  options.pins.clear();
  // As in SearchUnpinned: what is lost by the pins.
  tally.pins_cost += Search(graph, options)->cost.bytes() < compared->least;
}

TEST_CASE("random graphs with random pins against enumeration") {
  for (const bool replicate : {false, true}) {
    TriedSpace space;
    space.replicate = replicate;
    Tally tally;
    std::mt19937 random(5);
    for (int devices : {2, 3, 4, 6, 8}) {
      RandomGraphs graphs(100 + devices, devices);
      for (int i = 0; i < Part(80); ++i) {
        CAPTURE(devices, i, replicate);
        ComparePinned(graphs.Next(), devices, space, 20000, random, tally);
      }
    }
    std::cout << tally.compared << " random graphs with pins, " << tally.plans
              << " plans tried; gap 0 on " << tally.proven << ", pins cost something on "
              << tally.pins_cost << "\n";
    CHECK(tally.compared >= Part(300));
    CHECK(tally.proven >= 0.95 * tally.compared);
    if (!replicate) CHECK(tally.pins_cost >= Part(100));
  }
}

}  // namespace
}  // namespace yuba::search
