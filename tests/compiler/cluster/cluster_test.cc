// Which nodes are marked as a cluster, and that impossible clusters are refused.
#include "compiler/cluster/cluster.h"

#include <catch2/catch.hpp>

#include "compiler/cluster/products.h"
#include "compiler/model.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

std::vector<Cluster> ClustersOf(Model model, int64_t fewest_slices = 1) {
  ClusterModel(model, fewest_slices);
  const absl::Status possible = CheckClusters(model.graph, model.clusters);
  CHECK_THAT(possible, IsOk());
  return model.clusters;
}

using Clusters = std::vector<Cluster>;

TEST_CASE("maps over one index space that read each other or one tensor share all indices") {
  ModelBuilder build;
  const TensorId m = build.Input({6, 9}), g = build.Input({6, 9}), w = build.Input({6, 9});
  const TensorId moved = build.Add(m, g);
  const TensorId squared = build.Subtract(g, w);  // reads g as the first one does
  const TensorId next = build.Add(moved, squared);
  CHECK(ClustersOf(build.Finish({moved, squared, next})) == Clusters{{2, {moved, squared, next}}});
}

TEST_CASE("maps that share nothing, or a row alone, stay apart") {
  ModelBuilder build;
  const TensorId a = build.Input({6, 9}), b = build.Input({6, 9}), row = build.Input({9});
  const TensorId first = build.AddRow(a, row), second = build.AddRow(b, row);
  CHECK(ClustersOf(build.Finish({first, second})).empty());
}

TEST_CASE("a reduction and what is made of it share the rows") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 9});
  const TensorId most = build.Reduce(x, Reducer::kMax);
  const TensorId shifted = build.SubtractColumn(x, most);
  const TensorId sum = build.Reduce(shifted, Reducer::kSum);
  const TensorId again = build.SubtractColumn(shifted, sum);
  const Model model = build.Finish({again});
  CHECK(ClustersOf(model) == Clusters{{1, {most, shifted, sum, again}}});
  // With few rows the threads of a device would have nothing to share out.
  CHECK(ClustersOf(model, 7).empty());
  CHECK(ClustersOf(model, 6).size() == 1);
}

TEST_CASE("products and convolutions are for libraries") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 6});
  const TensorId y = build.MatMul(x, build.Input({6, 6}, TensorKind::kParameter));
  const TensorId z = build.Relu(y), u = build.Add(z, x);
  CHECK(ClustersOf(build.Finish({u, z})) == Clusters{{2, {z, u}}});
}

Clusters ProductsOf(const Model& model) {
  const Clusters products = FindProducts(model.graph);
  CHECK_THAT(CheckProducts(model.graph, products), IsOk());
  return products;
}

// y = x * w, z = y + row, u = relu(z), with these outputs.
Clusters ProductsWith(const std::vector<int>& outputs) {
  ModelBuilder build;
  const TensorId x = build.Input({6, 5}), row = build.Input({6});
  const TensorId y = build.MatMul(x, build.Input({5, 6}, TensorKind::kParameter));
  const TensorId z = build.AddRow(y, row), u = build.Relu(z);
  const std::vector<TensorId> results = {y, z, u};
  std::vector<TensorId> chosen;
  for (const int output : outputs) chosen.push_back(results[output]);
  Clusters products = ProductsOf(build.Finish(chosen));
  for (Cluster& product : products) {
    for (TensorId& result : product.results) result -= y;
  }
  return products;
}

TEST_CASE("a product and the maps behind it that are post-ops are marked for a library") {
  CHECK(ProductsWith({2}) == Clusters{{2, {0, 1, 2}}});
  // What something else reads too, or the user, is written.
  CHECK(ProductsWith({1, 2}) == Clusters{{2, {0, 1}}});
  CHECK(ProductsWith({0, 2}).empty());
}

TEST_CASE("a reduction behind a product is no post-op of it") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 6});
  const TensorId y = build.MatMul(x, build.Input({6, 6}, TensorKind::kParameter));
  CHECK(ProductsOf(build.Finish({build.Reduce(y, Reducer::kSum)})).empty());
}

TEST_CASE("impossible products are refused") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 5}), row = build.Input({6});
  const TensorId y = build.MatMul(x, build.Input({5, 6}, TensorKind::kParameter));
  const TensorId z = build.AddRow(y, row), u = build.Relu(z);
  const Model model = build.Finish({u});
  const auto refusal = [&](const Clusters& products) {
    return std::string(CheckProducts(model.graph, products).message());
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal({{2, {z, u}}}), Contains("is no product"));
  CHECK_THAT(refusal({{3, {y, z}}}), Contains("is no product"));
  CHECK_THAT(refusal({{2, {y}}}), Contains("a cluster of 1 nodes"));
  CHECK_THAT(refusal({{2, {z, y}}}), Contains("not in the order of the nodes"));
}

TEST_CASE("what is read beyond its own slice divides clusters") {
  ModelBuilder build;
  const TensorId x = build.Input({8, 5}), f = build.Input({3, 5}, TensorKind::kParameter);
  const TensorId y = build.Relu(x);
  const TensorId z = build.Window(y, f, 1, 1);  // rows above and below
  CHECK(ClustersOf(build.Finish({z, y})).empty());
}

TEST_CASE("impossible clusters are refused") {
  ModelBuilder build;
  const TensorId x = build.Input({8, 5}), f = build.Input({3, 5}, TensorKind::kParameter);
  const TensorId y = build.Relu(x);
  const TensorId z = build.Window(y, f, 1, 1);
  const TensorId u = build.Reduce(z, Reducer::kSum);
  const Model model = build.Finish({z, y, u});
  const auto refusal = [&](const Clusters& clusters) {
    const absl::Status status = CheckClusters(model.graph, clusters);
    CHECK((status.ok() || absl::IsFailedPrecondition(status)));
    return std::string(status.message());
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal({{1, {y}}}), Contains("a cluster of 1 nodes"));
  CHECK_THAT(refusal({{0, {y, z}}}), Contains("that share 0 indices"));
  CHECK_THAT(refusal({{1, {z, y}}}), Contains("not in the order of the nodes"));
  CHECK_THAT(refusal({{1, {x, y}}}), Contains("not in the order of the nodes"));
  CHECK_THAT(refusal({{1, {y, 99}}}), Contains("not in the order of the nodes"));
  CHECK_THAT(refusal({{1, {y, z}}}), Contains("more than its own slice") || Contains("loops"));
  CHECK_THAT(refusal({{2, {y, u}}}), Contains("cannot be shared") || Contains("do not share"));
}

TEST_CASE("of a state that two entries write, a cluster has the node of its own entry") {
  ModelBuilder build;
  const TensorId state = build.Input({6, 9}), g = build.Input({6, 9});
  const TensorId first = build.Add(state, g);
  const TensorId moved = build.Subtract(state, g), second = build.Add(moved, g);
  Model model = build.Finish({first, second});
  Graph& graph = model.graph;
  REQUIRE(graph.nodes[2].result == second);
  graph.entries = {{"first", 1}, {"second", 1}};
  graph.nodes[1].entry = graph.nodes[2].entry = 1;
  graph.nodes[0].result = graph.nodes[2].result = state;
  graph.tensors[state].kind = TensorKind::kState;
  Link(graph);
  const Cluster cluster = {2, {moved, state}, 1};
  CHECK(ClustersOf(model) == Clusters{cluster});
  const absl::Status twice = CheckClusters(graph, {cluster, cluster});
  CHECK_THAT(twice, StatusIs(absl::StatusCode::kFailedPrecondition, "a node is in two"));
}

}  // namespace
}  // namespace yuba::compiler
