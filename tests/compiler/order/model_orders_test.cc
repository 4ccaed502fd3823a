// Orders of the models at hand: what a command plans stands in the order of the phase, in both
// spaces, and the graph's hash is that of the depth-first order.
#include <catch2/catch.hpp>
#include <numeric>
#include <string>

#include "compiler/import/onnx.h"
#include "compiler/order/live_bytes.h"
#include "compiler/order/order.h"
#include "compiler/phases.h"
#include "compiler/simplify/simplify.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

Model Import(const std::string& name, bool factors) {
  onnx::ImportOptions options;
  options.factors = factors;
  if (name.rfind("modern/", 0) == 0) options.dims["batch"] = 4;
  return ImportFile("tests/models/" + name + "/model.onnx", options).value();
}

TEST_CASE("no model at hand keeps more bytes live than in the depth-first order") {
  int lower = 0;
  for (const std::string name : {"conv", "encoder", "gpt", "gpt2_separate", "light_squeezenet",
                                 "lstm", "mlp", "modern/mlp_f16"}) {
    for (const bool factors : {true, false}) {
      INFO(name << (factors ? " with factors" : " without factors"));
      Model model = Import(name, factors);
      const Graph imported = model.graph;
      std::vector<NodeId> standing(imported.nodes.size());
      std::iota(standing.begin(), standing.end(), 0);
      CHECK(DepthFirst(imported, {}).value() == standing);
      const NodeOrder order = LeastPeakOrder(imported).value();
      CHECK(order.proved);
      CHECK(order.peak <= order.depth_first_peak);
      lower += order.peak < order.depth_first_peak;
      REQUIRE_THAT(OrderModel(model), IsOk());
      CHECK_THAT(CheckOrder(model.graph), IsOk());
      CHECK(PeakOfLiveBytes(model.graph, standing) == order.peak);
      PutInCanonicalOrder(model);
      CHECK(HashOfGraph(model.graph) == model.graph_hash);
    }
  }
  CHECK(lower > 0);
}

TEST_CASE("a program runs its kernels in the order of the phase") {
  for (const bool copies : {false, true}) {
    Compilation compilation;
    compilation.request.model_file = "tests/models/lstm/model.onnx";
    compilation.request.import.library = &BuiltInLibrary();
    compilation.request.search.mesh = MeshOf(4);
    compilation.request.search.copies = copies;
    PhaseOptions options;
    options.to = "spmd";
    REQUIRE_THAT(RunPhases(options, compilation), IsOk());
    Model model = Import("lstm", compilation.plan.space.factors);
    const std::vector<Node> imported = model.graph.nodes;
    REQUIRE_THAT(OrderModel(model), IsOk());
    std::vector<std::string> ordered, left, planned;
    for (const Node& node : imported) left.push_back(node.name);
    for (const Node& node : model.graph.nodes) ordered.push_back(node.name);
    for (const Node& node : compilation.model.graph.nodes) {
      if (!IsCopy(compilation.model.graph, node)) planned.push_back(node.name);
    }
    CHECK(ordered != left);
    CHECK(planned == ordered);
    std::vector<std::string> kernels;
    for (const program::Instruction& instruction : compilation.program.instructions()) {
      const auto& nodes = instruction.kernel().node();
      kernels.insert(kernels.end(), nodes.begin(), nodes.end());
    }
    CHECK(kernels == ordered);
  }
}

}  // namespace
}  // namespace yuba::compiler
