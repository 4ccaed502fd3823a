// Opaque functions in plans: what may not be cut is not, by the search and by the checker.
#include <catch2/catch.hpp>

#include "compiler/phases.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/language/library.h"
#include "search/check/check.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

const OperatorLibrary& Library() {
  static const auto* const kLibrary = new OperatorLibrary(OperatorLibrary::BuiltIn().value());
  return *kLibrary;
}

Compilation Request(const std::string& model, int devices) {
  Compilation compilation;
  compilation.request.model_file = model;
  compilation.request.import.library = &Library();
  compilation.request.search.mesh = MeshOf(devices);
  return compilation;
}

// The two greatest of each row of six, of four rows.
std::string TopModel() {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Integers("k", {2});
  builder.Node("TopK", {"x", "k"}, {"values", "places"});
  builder.Output("values");
  builder.Output("places");
  return builder.Save();
}

TEST_CASE("a plan that sorts parts of rows is refused") {
  Compilation compilation = Request(TopModel(), 2);
  REQUIRE_THAT(RunPhases(PhaseOptions(), compilation), IsOk());
  const Graph& graph = compilation.model.graph;
  REQUIRE_THAT(search::CheckPlan(graph, compilation.plan), IsOk());
  size_t node = 0;
  while (!IsOpaque(*graph.nodes[node].definition)) REQUIRE(++node < graph.nodes.size());
  const Definition& definition = *graph.nodes[node].definition;
  for (size_t index = 0; index < definition.indices.size(); ++index) {
    if (MayBeCut(definition, static_cast<int>(index))) continue;
    INFO(definition.indices[index].name);
    search::Plan plan = compilation.plan;
    for (AxisList& axes : plan.nodes[node].axes) axes.clear();
    plan.nodes[node].axes[index] = {0};
    CHECK_FALSE(search::CheckPlan(graph, plan).ok());
  }
}

}  // namespace
}  // namespace yuba::compiler
