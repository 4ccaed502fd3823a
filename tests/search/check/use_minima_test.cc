// The least costs of uses at prices, against a look at all pairs of grids.

#include "search/check/use_minima.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "search/check/relaxed.h"
#include "tests/support/graphs.h"
#include "tests/support/kinds.h"
#include "tests/support/machines.h"

namespace yuba::search {
namespace {

std::vector<int64_t> LeastByNode(const UseTable& table, const PriceScale& scale,
                                 const std::vector<int64_t>& prices, size_t nodes) {
  std::vector<int64_t> least(nodes, std::numeric_limits<int64_t>::max());
  for (size_t n = 0; n < nodes; ++n) {
    for (size_t t = 0; t < prices.size(); ++t) {
      least[n] = std::min(least[n], table.At(n, t) * scale.units - prices[t]);
    }
  }
  return least;
}

// Of one product, at random prices: how many of its tables are sums.
int CompareTables(const Mesh& mesh) {
  GraphBuilder builder;
  const TensorId x = builder.Input({16, 48, 64}), w = builder.Parameter({16, 64, 32});
  const Graph graph = builder.Finish({builder.BatchedMatmul(x, w)});
  Space space;
  space.objective = Objective(ObjectiveKind::kTime, MachineFor(mesh, {1.3e-6, 1.7e-5}, {9e8, 7e7}));
  space.replicate = Replicate::kAuto;
  const RelaxedTables tables = *MakeRelaxedTables(graph, mesh, space);
  std::mt19937_64 random(5);
  const PriceScale scale = {16, int64_t{1} << 50};
  int sums = 0;
  for (const RelaxedTables::Use& use : tables.uses) {
    CAPTURE(use.node, use.tensor);
    sums += use.cost->other_term != nullptr;
    const auto nodes = static_cast<size_t>(tables.nodes[use.node]);
    int64_t some = 1;  // about the dearest pair, so that prices decide which grid is the least
    for (size_t n = 0; n < nodes; ++n) {
      for (int t = 0; t < tables.tensors[use.tensor]; ++t) {
        some = std::max(some, use.cost->At(n, t) * scale.units);
      }
    }
    std::vector<int64_t> prices(tables.tensors[use.tensor]);
    for (int64_t& price : prices) price = static_cast<int64_t>(random() % (2 * some)) - some;
    std::vector<int64_t> least(nodes, 0);
    AddLeast({use.cost}, scale, prices, {}, &least);
    CHECK((least == LeastByNode(*use.cost, scale, prices, nodes)));
  }
  return sums;
}

TEST_CASE("the least costs of whole tables") {
  CHECK(CompareTables(MeshOfKinds(8, {1, 0, 0})) == 0);
}

TEST_CASE("the least costs of sums of two tables") {
  CHECK(CompareTables(MeshOfKinds(128, {1, 1, 1, 0, 0, 0, 0})) == 3);
}

}  // namespace
}  // namespace yuba::search
