// GPT-2 small with separate products for q, k and v: the input that they share by a copy moves
// once.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "opsemantics/language/library.h"
#include "search/check/check.h"
#include "search/rewrite/copies.h"
#include "search/search.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

Plan PlanOf(const Graph& graph) {
  SearchOptions options;
  options.mesh = MeshOf(8);
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  CHECK(plan->lower_bound == plan->cost.bytes());
  return *std::move(plan);
}

TEST_CASE("q, k and v of each layer gather their input once") {
  const OperatorLibrary library = *OperatorLibrary::BuiltIn();
  onnx::ImportOptions import;
  import.library = &library;
  absl::StatusOr<compiler::Model> model =
      compiler::ImportFile("tests/models/gpt2_separate/model.onnx", import);
  REQUIRE_THAT(model, IsOk());
  const Graph graph = WithCopies(model->graph);
  const Plan bare = PlanOf(model->graph), copied = PlanOf(graph);
  CHECK(copied.cost.bytes() <= 0.88 * bare.cost.bytes());
  std::set<TensorId> copies;
  for (const Node& node : graph.nodes) {
    if (!IsCopy(graph, node)) continue;
    for (int layer = 0; layer < 12; ++layer) {  // the result of the layer's first norm
      const std::string name = "b." + std::to_string(layer) + ".n1";
      if (graph.tensors[node.operands[0]].name != name) continue;
      CHECK(graph.tensors[node.result].consumers.size() == 3);
      copies.insert(node.result);
    }
  }
  CHECK(copies.size() == 12);
  int made = 0;
  for (const Move& move : MovesOf(graph, copied)) {
    if (move.bytes == 0) continue;
    CHECK(copies.count(move.tensor) == 0);  // the three readers have it already
    made += copies.count(graph.nodes[move.node].result);
  }
  CHECK(made == 12);
}

}  // namespace
}  // namespace yuba::search
