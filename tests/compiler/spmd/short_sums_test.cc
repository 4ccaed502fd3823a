// Sums of many partials, added up a few at a time. That any plan of them computes the whole and
// that wrong programs are refused is in accumulators_test.cc.
#include "compiler/spmd/short_sums.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/compiler/support/small_graphs.h"

namespace yuba::compiler {
namespace {

// How many partials there are at once, at most: each from the node that computes it to its reader.
int MostLive(const Graph& graph) {
  int most = 0;
  for (NodeId at = 0; at < static_cast<NodeId>(graph.nodes.size()); ++at) {
    most = std::max<int>(
        most, std::count_if(graph.tensors.begin(), graph.tensors.end(), [&](const Tensor& tensor) {
          return tensor.kind == TensorKind::kPartial && tensor.producer <= at &&
                 at <= tensor.consumers[0];
        }));
  }
  return most;
}

TEST_CASE("of many terms of a sum five are live at most, and each counts once") {
  size_t longest = 0;
  for (int seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Graph graph = RandomLongSums(MeshOf(4), random).graph;
    const absl::optional<ShortSums> sums = WithShortSums(graph);
    REQUIRE(sums.has_value());
    CHECK(MostLive(graph) > 4);
    CHECK(MostLive(sums->graph) <= 5);
    std::set<TensorId> terms;
    for (size_t n = 0; n < sums->graph.nodes.size(); ++n) {
      const Node& node = sums->graph.nodes[n];
      const Node& of = graph.nodes[sums->of[n]];
      CHECK(IsAccumulator(node) == IsAccumulator(of));
      CHECK(node.entry == of.entry);
      if (!IsAccumulator(node)) continue;
      CHECK(node.operands.size() <= 4);
      for (const TensorId term : node.operands) CHECK(terms.insert(term).second);
    }
    longest = std::max(longest, terms.size());
    CHECK_FALSE(WithShortSums(sums->graph).has_value());  // nor is a sum of four made shorter
  }
  CHECK(longest > 12);
}

}  // namespace
}  // namespace yuba::compiler
