// Two orders of plans on small graphs: a wider space never gives a dearer plan, and a larger limit
// on memory never one that moves more. `tools/freeze --orders` holds them on models.
#include <catch2/catch.hpp>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/model/plan_problem.h"
#include "search/search.h"
#include "tests/support/graphs.h"

namespace yuba::search {
namespace {

struct Case {
  std::string name;
  Graph graph;
  int devices = 2;
};

// y = relu(x v) w + x u: what reads x may share a copy, what is added an accumulator.
Graph Branches(int64_t rows, int64_t width) {
  GraphBuilder builder;
  const TensorId x = builder.Input({rows, width});
  const TensorId v = builder.Relu(builder.Matmul(x, builder.Parameter({width, 2 * width})));
  const TensorId w = builder.Matmul(v, builder.Parameter({2 * width, width}));
  const TensorId u = builder.Matmul(x, builder.Parameter({width, width}));
  return builder.Finish({builder.Relu(builder.Add(w, u)), builder.Matmul(u, x)});
}

std::vector<Case> Cases() {
  return {{"a chain", MatmulChain({256, 1024, 256, 512}, 64), 4},
          {"a chain", MatmulChain({96, 384, 96, 384, 96}, 48), 6},
          {"a chain", MatmulChain({64, 256, 64, 256}, 256), 8},
          {"a chain", MatmulChain({256, 512}, 32), 24},
          {"branches", Branches(48, 48), 4},
          {"branches", Branches(96, 96), 6},
          {"branches", Branches(96, 64), 8},
          {"recurrent", Recurrent(16, 64, 1, 2), 4},
          {"recurrent", Recurrent(24, 48, 1, 2), 6},
          {"a ResNet", ResNet(8, {1}), 4},
          {"a ResNet", ResNet(12, {1}), 6}};
}

// Each space has all plans of the one before it.
const std::vector<std::pair<std::string, SearchOptions>>& Spaces() {
  static const std::vector<std::pair<std::string, SearchOptions>> spaces = [] {
    SearchOptions bare;
    SearchOptions copies = bare;
    copies.copies = true;
    copies.accumulators = Accumulators::kNone;
    SearchOptions accumulators = copies;
    accumulators.accumulators = Accumulators::kAuto;
    SearchOptions replicas = accumulators;
    replicas.replicate = Replicate::kAuto;
    return std::vector<std::pair<std::string, SearchOptions>>{
        {"bare", bare}, {"copies", copies}, {"accumulators", accumulators}, {"replicas", replicas}};
  }();
  return spaces;
}

// Of what the plan without copies and a limit needs: less than it and more.
constexpr int64_t kPercent[] = {85, 97, 150};

using Bytes = absl::optional<int64_t>;  // that a plan moves; nothing where no plan fits

// The plan that is found within the limit, in bytes a device; 0: none.
absl::optional<PlannedGraph> PlanWithin(const Case& here, SearchOptions options, int64_t limit) {
  options.mesh = MeshOf(here.devices);
  options.memory_limit = limit;
  const auto variant = [&](bool) -> absl::StatusOr<Graph> { return here.graph; };
  absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, options);
  if (found.ok()) return *std::move(found);
  INFO(found.status());
  CHECK(absl::IsFailedPrecondition(found.status()));
  return absl::nullopt;
}

// A plan of a space or limit that has all plans of another one, against what was found there.
void CheckOrder(const Bytes& found, const Bytes& before) {
  if (!before.has_value()) return;
  REQUIRE(found.has_value());
  CHECK(*found <= *before);
}

TEST_CASE("a wider space never gives a dearer plan, a larger limit none that moves more") {
  int fitting = 0, dearer = 0;  // plans within limits, and those that limits make dearer
  for (const Case& here : Cases()) {
    const absl::optional<PlannedGraph> bare = PlanWithin(here, Spaces()[0].second, 0);
    const int64_t needed = PeakOfPlan(bare->graph, bare->plan);
    std::vector<Bytes> narrower(std::size(kPercent) + 1);  // by limit, the last one none
    for (const auto& [name, options] : Spaces()) {
      Bytes less;
      for (size_t i = 0; i < narrower.size(); ++i) {
        const int64_t limit = i < std::size(kPercent) ? needed * kPercent[i] / 100 : 0;
        INFO(here.name << " on " << here.devices << " devices, " << name << " within " << limit);
        const absl::optional<PlannedGraph> found = PlanWithin(here, options, limit);
        Bytes bytes;
        if (found.has_value()) bytes = found->plan.cost.bytes();
        CheckOrder(bytes, less);
        CheckOrder(bytes, narrower[i]);
        if (limit == 0 && less.has_value()) dearer += *bytes < *less;
        fitting += limit > 0 && found.has_value();
        less = narrower[i] = bytes;
      }
    }
  }
  CHECK(fitting > 50);  // else the orders say little
  CHECK(dearer > 5);
}

}  // namespace
}  // namespace yuba::search
