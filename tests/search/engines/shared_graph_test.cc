// What graphs share: how large their tables are, and what of it the search says that it left out.

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "search/model/graph_problem.h"
#include "search/rewrite/copies.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

TEST_CASE("the cells of all tables are counted, with copies and with replicas") {
  ProblemOptions options;
  options.mesh = MeshOf(8);
  options.axes = {0, 1, 2};
  options.cluster = false;  // clustered nodes may have tables in another order besides
  int replicated = 0;
  for (const Graph& bare :
       {MatmulChain({128, 64, 256}, 64), Recurrent(32, 64, 2, 3), ResNet(8, {1, 1})}) {
    int64_t before = 0;
    for (const Graph& graph : {bare, WithCopies(bare, 8)}) {
      for (const bool replicate : {false, true}) {
        options.replicate = replicate;
        const Problem problem = BuildProblem(graph, options);
        std::set<Cells> tables;
        for (const Factor& factor : problem.pairwise.factors) tables.insert(factor.cells);
        int64_t cells = 0;
        for (const Cells& table : tables) cells += static_cast<int64_t>(table->size());
        CHECK(cells <= TableCells(graph, 3, replicate));
        replicated += replicate && cells > before;
        before = TableCells(graph, 3, false);
      }
    }
  }
  CHECK(replicated > 0);  // to count as if nothing were replicated is too few
}

TEST_CASE("what the search leaves out is said") {
  SearchOptions options;
  options.replicate = Replicate::kAuto;
  options.copies = 8;
  const auto left_out = [&](const Graph& bare, int devices) {
    options.mesh = MeshOf(devices);
    const auto variant = [&](bool) -> absl::StatusOr<Graph> { return bare; };
    const absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, options);
    REQUIRE_THAT(found, IsOk());
    return found->left_out;
  };
  const Graph chain = MatmulChain({4096, 4096, 4096}, 4096);
  CHECK(left_out(chain, 8).empty());
  const std::vector<std::string> many = left_out(chain, 1024);
  REQUIRE(many.size() == 1);
  CHECK_THAT(many[0], Catch::Contains("too many choices on so many devices"));
  const int64_t wide = 1 << 20;
  const std::vector<std::string> huge = left_out(MatmulChain({wide, wide, wide}, wide), 8);
  REQUIRE(huge.size() == 1);
  CHECK_THAT(huge[0], Catch::Contains("2^40 bytes"));
  options.replicate = Replicate::kNone;
  CHECK(left_out(chain, 1024).empty());
  const Graph recurrent = Recurrent(512, 64, 2, 8);  // rows so long that nobody cuts sums
  const std::vector<std::string> sums = left_out(recurrent, 8);
  REQUIRE(sums.size() == 1);
  CHECK_THAT(sums[0], Catch::Contains("--accumulators all"));
  options.pins = {ExactPin(false, recurrent.inputs[0], {{{0, 1, 2}, {}}})};
  const std::vector<std::string> pinned = left_out(recurrent, 8);
  REQUIRE(pinned.size() == 1);
  CHECK_THAT(pinned[0], Catch::Contains("since there are pins"));
  options.pins.clear();
  options.accumulators = Accumulators::kAll;
  CHECK(left_out(recurrent, 8).empty());
}

}  // namespace
}  // namespace yuba::search
