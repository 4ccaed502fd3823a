// Nodes follow clusters that they could be part of: past what stands between, up to what they read,
// and only where no more bytes are live.
#include "compiler/order/follow.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "compiler/cluster/cluster.h"
#include "compiler/cluster/columns.h"
#include "compiler/cluster/products.h"
#include "compiler/order/kernel_nodes.h"
#include "compiler/order/live_bytes.h"
#include "compiler/order/order.h"
#include "tests/compiler/support/carried_graphs.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

using Order = std::vector<NodeId>;

Order Follow(Model& model) {
  ClusterModel(model, 1);
  return FollowClusters(FindProducts(model.graph), model, 1);
}

int64_t PeakOf(const Graph& graph) {
  Order standing(graph.nodes.size());
  std::iota(standing.begin(), standing.end(), 0);
  return PeakOfLiveBytes(graph, standing);
}

TEST_CASE("a map moves past a product to the map that it reads") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 6}), w = build.Input({6, 6}, TensorKind::kParameter);
  const TensorId y = build.Relu(x);
  const TensorId product = build.MatMul(y, w);
  const TensorId follows = build.Add(y, x);
  Model model = build.Finish({build.MatMul(product, follows)});
  CHECK(Follow(model) == Order{0, 2, 1, 3});
  CHECK(model.graph.nodes[1].result == follows);
  REQUIRE_FALSE(model.clusters.empty());
  CHECK(model.clusters[0] == Cluster{2, {y, follows}});
  CHECK_THAT(CheckClusters(model.graph, model.clusters), IsOk());
}

TEST_CASE("a map moves down to a node that could join it but reads what stands between") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 6}), w = build.Input({6, 6}, TensorKind::kParameter);
  const TensorId y = build.Relu(x);
  const TensorId product = build.MatMul(x, w);
  const TensorId reads_both = build.Add(y, product);
  Model model = build.Finish({build.MatMul(build.MatMul(product, w), reads_both)});
  CHECK(Follow(model) == Order{1, 0, 2, 3, 4});
  CHECK(model.clusters == std::vector<Cluster>{Cluster{2, {y, reads_both}}});
}

TEST_CASE("what is computed of sums down columns follows them, and sums that read the same") {
  ModelBuilder build;
  const TensorId x = build.Input({16, 6}), w = build.Input({6, 6}, TensorKind::kParameter);
  const TensorId sum = build.SumDown(x);
  const TensorId product = build.MatMul(x, w);
  const TensorId follows = build.Relu(sum);
  const TensorId again = build.SumDown(x);
  const TensorId other = build.SumDown(product);
  Model model = build.Finish({product, follows, again, other});
  CHECK(Follow(model) == Order{0, 2, 3, 1, 4});
  CHECK(model.clusters == std::vector<Cluster>{Cluster{1, {sum, follows, again}}});
  CHECK_THAT(CheckClusters(model.graph, model.clusters), IsOk());
}

TEST_CASE("a sum of what is computed of a sum, and one of other turns, is another kernel") {
  ModelBuilder build;
  const TensorId x = build.Input({16, 6});
  const TensorId sum = build.SumDown(x);
  const TensorId mean = build.Relu(sum);
  const TensorId rest = build.AddRow(x, mean);
  const TensorId of_rest = build.SumDown(rest);
  const TensorId few = build.SumDown(build.Input({7, 6}));  // each thread adds up all of a column
  Model model = build.Finish({mean, of_rest, few});
  Follow(model);
  CHECK(model.clusters == std::vector<Cluster>{Cluster{1, {sum, mean}}});
  const Graph& graph = model.graph;
  const auto nodes = [&](const std::vector<TensorId>& results) {
    std::vector<NodeId> ids;
    for (const TensorId result : results) ids.push_back(ProducerIn(graph, result, 0));
    return ids;
  };
  CHECK(ColumnsOf(graph, nodes({sum, mean})).has_value());
  CHECK_FALSE(ColumnsOf(graph, nodes({sum, of_rest})).has_value());  // they read nothing in common
  CHECK_FALSE(ColumnsOf(graph, nodes({sum, mean, rest})).has_value());
  CHECK_FALSE(ColumnsOf(graph, nodes({sum, few})).has_value());
  CHECK_FALSE(ColumnsOf(graph, nodes({mean, sum})).has_value());
}

TEST_CASE("what would keep more bytes live than before stays") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 6}), w = build.Input({6, 6}, TensorKind::kParameter);
  const TensorId y = build.Relu(x);
  const TensorId product = build.MatMul(y, w);
  const TensorId other = build.Subtract(x, w);  // reads x as y does, and is live for no longer
  Model model = build.Finish({build.MatMul(product, other)});
  CHECK(Follow(model) == Order{0, 1, 2, 3});
}

TEST_CASE("a node that reads what stands between stays behind it") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 6}), w = build.Input({6, 6}, TensorKind::kParameter);
  const TensorId y = build.Relu(x);
  const TensorId product = build.MatMul(y, w);
  Model model = build.Finish({build.Subtract(build.Relu(product), y)});
  CHECK(Follow(model) == Order{0, 1, 2, 3});
}

TEST_CASE("what is both a post-op of a product and of a cluster is the product's") {
  ModelBuilder build;
  const TensorId x = build.Input({6, 6}), w = build.Input({6, 6}, TensorKind::kParameter);
  const TensorId c = build.MatMul(x, w), y = build.Relu(c);
  const TensorId z = build.Subtract(y, x);
  const TensorId product = build.MatMul(z, w);
  const TensorId follows = build.Add(y, x);  // a cluster with z, but not of the product of c
  Model model = build.Finish({build.MatMul(product, follows)});
  ClusterModel(model, 1);
  REQUIRE(model.clusters == std::vector<Cluster>{Cluster{2, {y, z}}});
  const std::vector<Cluster> products = FindProducts(model.graph);
  REQUIRE(products == std::vector<Cluster>{Cluster{2, {c, y}}});
  const std::vector<KernelNodes> kernels = KernelsOfEntry(model, products, 0);
  REQUIRE(kernels.size() == 5);
  CHECK(kernels[0].end == 2);
  CHECK(kernels[0].product);
  CHECK(kernels[0].cluster == -1);
  CHECK_FALSE(kernels[1].product);
  CHECK(kernels[1].cluster == 0);
  CHECK(FollowClusters(products, model, 1) == Order{0, 1, 2, 4, 3, 5});
  CHECK(model.clusters == std::vector<Cluster>{Cluster{2, {z, follows}}});
}

TEST_CASE("any small graph stays right: nodes can run, clusters are possible, no more is live") {
  int moved = 0;
  for (int seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    Model model = seed % 2 == 0 ? RandomModel(random) : RandomCarried(random).model;
    ClusterModel(model, 1);
    const int64_t peak = PeakOf(model.graph);
    const Order order = FollowClusters(FindProducts(model.graph), model, 1);
    moved += !std::is_sorted(order.begin(), order.end());
    CHECK(PeakOf(model.graph) <= peak);
    CHECK_THAT(CheckClusters(model.graph, model.clusters), IsOk());
    for (NodeId n = 0; n < static_cast<NodeId>(model.graph.nodes.size()); ++n) {
      for (const TensorId operand : model.graph.nodes[n].operands)
        CHECK(ProducerFor(model.graph, operand, n) < n);
    }
  }
  CHECK(moved > 10);
}

}  // namespace
}  // namespace yuba::compiler
