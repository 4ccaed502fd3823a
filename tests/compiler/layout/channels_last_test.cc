// Which tensors get their channels innermost, and where dimensions are reordered: by structure, and
// in ResNet-50 in training at its edges only.
#include "compiler/layout/channels_last.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "compiler/layout/order_dims.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"
#include "tests/support/status_matchers.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/program/build_program.h"

namespace yuba::compiler {
namespace {

// y[i0, i1, i2] = x[i0, i1, i2].
Definition Copy() { return IdentityOf({ElementType::kF32, {2, 3, 5}}, "y"); }

TEST_CASE("a definition whose tensors have other orders") {
  Definition both = Copy(), result = Copy(), operand = Copy();
  CHECK(OrderDims({{0, 2, 1}, {0, 2, 1}}, both) == std::vector<int>{0, 2, 1});
  CHECK(IsIdentity(both));
  CHECK(both.result.dims == std::vector<int64_t>{2, 5, 3});
  OrderDims({{}, {0, 2, 1}}, result);
  CHECK(MatchView(result) == std::vector<int>{0, 2, 1});
  CHECK(OrderDims({{1, 2, 0}, {}}, operand) == std::vector<int>{0, 1, 2});
  CHECK(MatchView(operand) == std::vector<int>{2, 0, 1});
}

TEST_CASE("a sum runs through its largest operand as that lies in memory") {
  Definition sum;
  sum.name = "y";
  sum.reducer = Reducer::kSum;
  sum.operands = {{ElementType::kF32, {2, 3, 5}}};
  sum.result = {ElementType::kF32, {3}};
  sum.indices = {{"c", 3, false}, {"n", 2, true}, {"p", 5, true}};
  sum.left = {IndexAffine(0)};
  sum.body = ReadExpr(0, {IndexAffine(1), IndexAffine(0), IndexAffine(2)}, ElementType::kF32);
  CHECK(OrderDims({{2, 0, 1}, {}}, sum) == std::vector<int>{0, 2, 1});
  CHECK(ToString(sum) == "y[c: 3] = sum(p: 5, n: 2) x0[p, n, c]");
}

struct Trained {
  size_t nodes_before = 0;
  Model model;
  search::Plan plan;
  Layouts layouts;
};

Trained ChannelsLast(const std::string& name, const zoo::Sizes& sizes, const std::string& optimizer,
                     const std::string& precision, ElementType type) {
  const auto loaded = tools::BenchModelOf(name, sizes, optimizer, precision);
  REQUIRE_THAT(loaded, IsOk());
  Trained trained;
  trained.model = (*loaded)->model;
  trained.plan = tools::WholePlan(trained.model.graph);
  trained.nodes_before = trained.model.graph.nodes.size();
  trained.layouts = PutChannelsLast({type}, trained.model, trained.plan);
  CheckGraph(trained.model.graph);
  return trained;
}

// The maps that read a tensor of all indices of their result in another order than that.
std::vector<std::string> ReordersOf(const Graph& graph) {
  std::vector<std::string> reorders;
  for (const Node& node : graph.nodes) {
    const Definition& definition = *node.definition;
    if (!IsMap(definition)) continue;
    Walk(definition, [&](const Expr& expr) {
      if (expr.kind != Expr::kRead) return;
      std::vector<int> indices;
      for (const Affine& at : expr.position) indices.push_back(at.BareIndex());
      const bool all = indices.size() == definition.left.size() &&
                       std::count(indices.begin(), indices.end(), -1) == 0;
      if (all && !std::is_sorted(indices.begin(), indices.end()))
        reorders.push_back(graph.tensors[node.operands[expr.operand]].name + " > " + node.name);
    });
  }
  return reorders;
}

// Of each convolution and gradient the channels are innermost in input and output.
int ChannelsLastConvolutions(const Graph& graph) {
  int convolutions = 0;
  for (const Node& node : graph.nodes) {
    const Definition& definition = *node.definition;
    const auto match = MatchConvolution(definition);
    if (!match.has_value()) continue;
    ++convolutions;
    const auto last = [&](ProductTensor which, const std::vector<int>& channels) {
      const auto& position = which == ProductTensor::kResult
                                 ? definition.left
                                 : FactorsOf(definition)[static_cast<size_t>(which)]->position;
      int innermost = -1;  // index of more than one element
      for (const Affine& at : position) {
        const int index = at.BareIndex();
        if (index < 0 ? !at.IsConstant() : definition.indices[index].extent > 1) innermost = index;
      }
      return std::find(channels.begin(), channels.end(), innermost) != channels.end();
    };
    INFO(node.name << ": " << ToString(definition));
    CHECK(last(match->input, match->inputs));
    CHECK(last(match->output, match->outputs));
    CHECK(last(match->filter, match->inputs));
  }
  return convolutions;
}

TEST_CASE("ResNet-50 in training in bf16 is channels-last but for its edges") {
  const Trained trained =
      ChannelsLast("wresnet", {{"layers", 50}, {"batch", 32}}, "adam", "bf16", ElementType::kBF16);
  CHECK(ChannelsLastConvolutions(trained.model.graph) > 50);
  // The image, by the map that makes it bf16.
  CHECK(ReordersOf(trained.model.graph).size() == 1);
  CHECK(trained.model.graph.nodes.size() == trained.nodes_before);
}

TEST_CASE("an input that a convolution reads and an output that one computes are reordered") {
  const auto loaded = tools::BenchModelOf("unet3d", {}, "");
  REQUIRE_THAT(loaded, IsOk());
  Model model = (*loaded)->model;
  Graph& graph = model.graph;
  const auto first = std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    return MatchConvolution(*node.definition).has_value();
  });
  const TensorId input = first->operands[0], output = first->result;
  const std::string name = graph.tensors[output].name;
  REQUIRE(graph.tensors[input].kind == TensorKind::kInput);
  graph.outputs.push_back(output);
  Link(graph);
  const std::vector<NodeId> readers = graph.tensors[output].consumers;
  REQUIRE(!readers.empty());
  search::Plan plan = tools::WholePlan(graph);
  const Layouts layouts = PutChannelsLast({ElementType::kF32}, model, plan);
  CheckGraph(graph);
  CHECK(ReordersOf(graph) == std::vector<std::string>{graph.tensors[input].name + " > reorder(" +
                                                          graph.tensors[input].name + ")",
                                                      "reorder(" + name + ") > " + name});
  // The ports are row-major, and what reads the output reads what the convolution computes.
  CHECK(layouts.count(input) + layouts.count(output) == 0);
  CHECK(graph.tensors[output].consumers.empty());
  CHECK(ChannelsLastConvolutions(graph) > 10);
  CHECK(plan.nodes.size() == graph.nodes.size());
  CHECK(plan.tensors.size() == graph.tensors.size());
}

TEST_CASE("nothing changes where no convolution asks") {
  const zoo::Sizes small = {{"layers", 26}, {"batch", 8}};
  CHECK(ChannelsLast("wresnet", small, "adam", "", ElementType::kBF16).layouts.empty());
}

}  // namespace
}  // namespace yuba::compiler
