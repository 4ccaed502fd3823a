// Whole heads of q, k and v cut together are a plan that can be expressed, on any number of
// devices: pinned, nothing moves inside attention but what is stored.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "opsemantics/language/library.h"
#include "search/search.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

bool InBlock(const Node& node, const std::string& block) { return node.name.rfind(block, 0) == 0; }

// The index of `heads` elements that the node can cut, or -1; there is at most one.
int HeadIndex(const Node& node, int64_t heads) {
  int found = -1;
  for (int index : CuttableIndices(*node.definition)) {
    if (node.definition->indices[index].extent != heads) continue;
    REQUIRE(found == -1);
    found = index;
  }
  return found;
}

// The nodes of one block's attention: from the split of the fused product to the product with v.
std::vector<NodeId> Attention(const Graph& graph, const std::string& block,
                              const std::string& last) {
  std::vector<NodeId> nodes;
  bool inside = false;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.nodes[id];
    if (!InBlock(node, block)) continue;
    if (node.name.find("Split") != std::string::npos) inside = true;
    if (inside) nodes.push_back(id);
    if (node.name == last) break;
  }
  REQUIRE(nodes.size() >= 6);  // q, k and v, their product, softmax's three, and the product with v
  return nodes;
}

void CutWholeHeads(const std::string& name, int64_t heads, int devices) {
  INFO(name << " on " << devices);
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  ImportOptions import;
  import.library = &library;
  const Graph graph =
      compiler::ImportFile("tests/models/" + name + "/model.onnx", import).value().graph;
  const std::vector<NodeId> attention = Attention(graph, "/b.0/", "/b.0/MatMul_1_output_0");
  search::SearchOptions options;
  options.mesh = MeshOf(devices);
  AxisList all;
  for (size_t axis = 0; axis < options.mesh.axes.size(); ++axis)
    all.push_back(static_cast<uint8_t>(axis));
  for (NodeId id : attention) {
    const int head = HeadIndex(graph.nodes[id], heads);
    INFO(graph.nodes[id].name);
    REQUIRE(head >= 0);
    Sharding sharding{std::vector<AxisList>(graph.nodes[id].definition->indices.size())};
    sharding.axes[head] = all;
    options.pins.push_back(search::ExactPin(true, id, sharding));
  }
  const absl::StatusOr<search::Plan> plan = search::Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  for (const search::Move& move : search::MovesOf(graph, *plan)) {
    if (std::find(attention.begin(), attention.end(), move.node) == attention.end()) continue;
    INFO(graph.nodes[move.node].name << " moves " << graph.tensors[move.tensor].name);
    const TensorKind kind = graph.tensors[move.tensor].kind;
    const bool stored = kind == TensorKind::kParameter || kind == TensorKind::kConstant;
    CHECK(stored);
  }
}

TEST_CASE("whole heads can be cut together, also unevenly") {
  for (int devices : {2, 3, 5, 6}) CutWholeHeads("gpt", 6, devices);
  for (int devices : {2, 3, 4}) CutWholeHeads("encoder", 4, devices);
}

}  // namespace
}  // namespace yuba::onnx
