// Accumulators: products that meet in one sum are reduced once, for the sum.

#include "search/rewrite/accumulators.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "search/check/check.h"
#include "search/check/relaxed.h"
#include "search/cost/cost_tables.h"
#include "search/cost/use_costs.h"
#include "search/plan/memory_price.h"
#include "search/rewrite/partials.h"
#include "search/search.h"
#include "search/space/domain.h"
#include "tests/support/engines.h"
#include "tests/support/enumeration.h"
#include "tests/support/graphs.h"
#include "tests/support/kinds.h"
#include "tests/support/marking.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

// x1 * w1 + x2 * w2: products of [rows, inner] x [inner, columns], and of one more inner element;
// with `bias` a further map of the sum.
Graph TwoProducts(int64_t rows, int64_t inner, int64_t columns, bool bias) {
  GraphBuilder builder;
  TensorId sum = builder.Add(
      builder.Matmul(builder.Input({rows, inner}), builder.Parameter({inner, columns})),
      builder.Matmul(builder.Input({rows, inner + 1}), builder.Parameter({inner + 1, columns})));
  if (bias) sum = builder.Scale(sum, builder.Parameter({columns}), 1);
  return builder.Finish({sum});
}

std::vector<NodeId> Accumulators(const Graph& graph) {
  std::vector<NodeId> found;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (IsAccumulator(graph.nodes[n])) found.push_back(static_cast<NodeId>(n));
  }
  return found;
}

TEST_CASE("the products of one sum get an accumulator, and nothing else does") {
  const Graph bare = TwoProducts(8, 16, 8, false), graph = WithAccumulators(bare, MeshOf(8));
  REQUIRE(Accumulators(graph).size() == 1);
  const Node& node = graph.nodes[Accumulators(graph)[0]];
  CHECK(node.operands.size() == 2);
  CHECK(graph.nodes.size() == bare.nodes.size());  // the accumulator replaces the map
  CHECK(node.result == bare.outputs[0]);
  CHECK(graph.tensors[node.operands[0]].kind == TensorKind::kPartial);

  // A term that is read elsewhere, is no sum or is an output of the graph gets no accumulator.
  GraphBuilder builder;
  const TensorId x = builder.Input({8, 8}), w = builder.Parameter({8, 8});
  const TensorId twice = builder.Matmul(x, w), output = builder.Matmul(x, builder.Transpose(w));
  const TensorId sum = builder.Add(builder.Add(twice, builder.Relu(twice)), output);
  CHECK(Accumulators(WithAccumulators(builder.Finish({sum, output}), MeshOf(8))).empty());
  // Nor does one of a type that is accumulated in a wider one, or whose node cannot use all axes.
  GraphBuilder narrow;
  const TensorId h = narrow.Input({8, 8}, ElementType::kF16);
  const Graph halves = narrow.Finish({narrow.Add(narrow.Matmul(h, h), narrow.Matmul(h, h))});
  CHECK(Accumulators(WithAccumulators(halves, MeshOf(8))).empty());
  CHECK(Accumulators(WithAccumulators(TwoProducts(2, 2, 2, false), MeshOf(64))).empty());
}

TEST_CASE("terms of a longer sum meet, and the others stay where they were") {
  GraphBuilder builder;
  const TensorId x = builder.Input({8, 12}), other = builder.Input({8, 10});
  std::vector<TensorId> terms;
  for (int i = 0; i < 3; ++i) terms.push_back(builder.Matmul(x, builder.Parameter({12, 10})));
  terms.insert(terms.begin() + 1, other);
  const Graph bare = WithSumOf(builder.Finish(terms), terms);
  const Graph graph = WithAccumulators(bare, MeshOf(4));
  REQUIRE(Accumulators(graph).size() == 1);
  const Node& accumulator = graph.nodes[Accumulators(graph)[0]];
  CHECK(accumulator.operands.size() == 3);
  const Node& rest = graph.nodes.back();
  CHECK(rest.operands == std::vector<TensorId>{other, accumulator.result});
  CHECK(ToString(*rest.definition) == "y[i0: 8, i1: 10] = x1[i0, i1] + x0[i0, i1]");
}

std::vector<Choice> AllChoices(const ChoiceSpace& space, const Mesh& mesh) {
  std::vector<int> axes(mesh.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  return LegalChoices(space, mesh, axes, WholeChoice(space), Nesting::kFree);
}

// Compares all cost tables of uses of partials and of accumulators' results with elements marked
// one by one, and the bounds by grids, the solver's and the checker's, with all choices.
void CompareCosts(const Graph& graph, const Mesh& mesh) {
  CAPTURE(mesh.devices());
  const RelaxedTables checked = *MakeRelaxedTables(graph, mesh, Space());
  auto use = checked.uses.begin();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const Definition& definition = *node.definition;
    const ChoiceSpace space = SpaceOfNode(graph, static_cast<NodeId>(n));
    const std::vector<Choice> node_choices = AllChoices(space, mesh);
    const std::vector<Grid> node_grids = AllGrids(space, mesh);
    for (int o = -1; o < static_cast<int>(node.operands.size()); ++o, ++use) {
      const TensorId tensor = o < 0 ? node.result : node.operands[o];
      const ChoiceSpace tensor_space = SpaceOfTensor(graph, tensor);
      const std::vector<Choice> choices = AllChoices(tensor_space, mesh);
      const std::vector<Grid> grids = AllGrids(tensor_space, mesh);
      UseCosts costs(definition, o, mesh);
      const std::vector<int64_t> relaxed = costs.Relaxed(grids, node_grids);
      REQUIRE(use->cost->row_of.size() == node_grids.size());
      for (size_t t = 0; t < grids.size(); ++t) {
        for (size_t g = 0; g < node_grids.size(); ++g) {
          CHECK(use->cost->At(g, t) == relaxed[t * node_grids.size() + g]);
        }
      }
      const bool regroups = o >= 0 && IsAccumulator(node);  // what no plan does
      const MarkedTable marked =
          MarkedBytes(definition, mesh, o, ShardingsOf(node_choices), ShardingsOf(choices));
      int64_t steps = 0, wrong = 0, too_high = 0;
      std::vector<bool> possible(relaxed.size(), false);
      for (size_t c = 0; c < node_choices.size(); ++c) {
        const auto column =
            std::find(node_grids.begin(), node_grids.end(), GridOf(node_choices[c], mesh));
        for (size_t t = 0; t < choices.size(); ++t) {
          const auto row = std::find(grids.begin(), grids.end(), GridOf(choices[t], mesh));
          const size_t cell =
              (row - grids.begin()) * node_grids.size() + (column - node_grids.begin());
          const int64_t bytes = costs.Exact(choices[t], node_choices[c], &steps);
          const bool never = marked[c][t] >= kNeverMarked;
          if (!never) possible[cell] = true;
          too_high += relaxed[cell] > (never ? kNever : bytes);
          if (regroups) {
            Choice same = node_choices[c];
            same.axes.pop_back();
            wrong += (bytes == 0) != (same == choices[t]) && same == choices[t];
          } else if (!never) {
            wrong += bytes != marked[c][t];
          }
        }
      }
      for (size_t cell = 0; cell < possible.size(); ++cell) {
        wrong += possible[cell] != (relaxed[cell] < kNever);
      }
      CHECK(wrong == 0);
      CHECK(too_high == 0);
    }
  }
  CHECK(use == checked.uses.end());
}

TEST_CASE("what partials and accumulators cost is what moves, element by element") {
  for (const Mesh& mesh : {MeshOf(2), MeshOf(3), MeshOf(4), MeshOf(6), MeshOf(8),
                           MeshOfKinds(4, {0, 1}), MeshOfKinds(8, {0, 1, 0})}) {
    CompareCosts(WithAccumulators(TwoProducts(5, 6, 7, false), mesh), mesh);
    CompareCosts(WithAccumulators(TwoProducts(4, 8, 8, false), mesh), mesh);
  }
}

// relu((x * w1) * w2): the first sum may stay unreduced.
Graph TwoLayers(int64_t rows, int64_t inner, int64_t middle, int64_t columns) {
  GraphBuilder builder;
  const TensorId x = builder.Input({rows, inner});
  const TensorId y = builder.Matmul(x, builder.Parameter({inner, middle}));
  const TensorId z = builder.Matmul(y, builder.Parameter({middle, columns}));
  return builder.Finish({builder.Relu(z)});
}

TEST_CASE("what sums that stay unreduced cost is what moves, element by element") {
  for (const Mesh& mesh : {MeshOf(2), MeshOf(3), MeshOf(4), MeshOf(6), MeshOf(8),
                           MeshOfKinds(4, {0, 1}), MeshOfKinds(8, {0, 1, 0})}) {
    for (const auto& [rows, middle] : {std::pair(5, 7), std::pair(8, 4)}) {
      const Graph graph = WithPartials(TwoLayers(rows, 6, middle, 8), mesh);
      REQUIRE(HasPartials(graph));
      CompareCosts(graph, mesh);
    }
  }
}

Plan PlanOf(const Graph& graph, int devices) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  return *std::move(plan);
}

// Compares the plan with all plans of the graph, and with the best one without accumulators. False
// where there is nothing to compare. Adds the bytes that accumulators save to *saved.
bool Compare(const Graph& bare, int devices, int64_t limit, int64_t* saved) {
  CAPTURE(devices);
  const Mesh mesh = MeshOf(devices);
  const Graph graph = WithAccumulators(bare, mesh);
  if (Accumulators(graph).empty()) return false;
  const TriedPlans tried = TryAllPlans(graph, mesh, TriedSpace(), limit);
  if (tried.least < 0) return false;
  const Plan plan = PlanOf(graph, devices);
  CHECK(plan.cost.bytes() == tried.least);
  CHECK(plan.lower_bound == tried.least);
  CHECK(MarkedBytes(graph, mesh, ShardingsOf(plan.tensors), ShardingsOf(plan.nodes)) ==
        tried.least);
  const Plan without = PlanOf(bare, devices);
  CHECK(plan.cost.bytes() <= without.cost.bytes());
  *saved += without.cost.bytes() - plan.cost.bytes();

  SearchOptions options;
  options.mesh = mesh;
  const Plan by_grids = Search(graph, Only(options, {"grids", "axes"})).value();
  CHECK(by_grids.lower_bound <= tried.least);
  CHECK_THAT(CheckPlan(graph, by_grids), IsOk());
  return true;
}

// A sum of two or three products, whose inputs may be shared, and perhaps of an input.
Graph RandomSums(std::mt19937& random) {
  const auto extent = [&] { return 2 + static_cast<int64_t>(random() % 11); };
  GraphBuilder builder;
  const int64_t rows = extent(), columns = extent();
  std::vector<TensorId> terms;
  TensorId shared = -1;
  for (int i = 0, count = 2 + static_cast<int>(random() % 2); i < count; ++i) {
    if (shared < 0 || random() % 2 == 0) shared = builder.Input({rows, extent()});
    const int64_t inner = builder.Dims(shared)[1];
    terms.push_back(builder.Matmul(shared, builder.Parameter({inner, columns})));
  }
  if (random() % 3 == 0) terms.push_back(builder.Input({rows, columns}));
  return WithSumOf(builder.Finish(terms), terms);
}

TEST_CASE("plans with accumulators against all plans") {
  std::mt19937 random(3);
  int compared = 0;
  int64_t saved = 0;
  for (int devices : {2, 3, 4, 6, 8}) {
    const int64_t limit = devices == 8 ? 250000 : 60000;
    for (int i = 0; i < (devices == 8 ? 5 : 18); ++i) {
      CAPTURE(i);
      compared += Compare(RandomSums(random), devices, limit, &saved);
    }
  }
  std::cout << compared << " graphs with accumulators, " << saved << " bytes saved\n";
  CHECK(compared > 40);
  CHECK(saved > 0);
}

TEST_CASE("a pin of what became a term of a sum is refused with the way out") {
  Graph graph = TwoProducts(8, 6, 4, false);
  SearchOptions options;
  options.mesh = MeshOf(4);
  const Graph accumulating = WithAccumulators(graph, options.mesh);
  options.pin_texts = {graph.tensors[graph.nodes[0].result].name + "=[-, a]"};
  CHECK_THAT(Search(graph, options), IsOk());
  CHECK_THAT(Search(accumulating, options),
             StatusIs(absl::StatusCode::kInvalidArgument, "--space accumulators=none"));
}

TEST_CASE("long sums of two products move one of them") {
  const Graph bare = TwoProducts(8, 256, 8, true), graph = WithAccumulators(bare, MeshOf(8));
  const Plan with = PlanOf(graph, 8), without = PlanOf(bare, 8);
  CHECK(without.cost.bytes() == 2 * 7 * 8 * 8 * 4);  // seven eighths of eight parts, twice
  CHECK(with.cost.bytes() == 7 * 8 * 8 * 4);
  // The groups' index is cut over all axes, and the products are not reduced at all.
  const NodeId accumulator = Accumulators(graph)[0];
  CHECK(with.nodes[accumulator].axes.back().size() == 3);
  int reductions = 0;
  for (const Move& move : MovesOf(graph, with)) reductions += move.partial;
  CHECK(reductions == 1);
}

TEST_CASE("the checker refuses partials that are sharded in another way than their accumulator") {
  const Graph graph = WithAccumulators(TwoProducts(8, 256, 8, false), MeshOf(8));
  Plan plan = PlanOf(graph, 8);
  const Node& node = graph.nodes[Accumulators(graph)[0]];
  plan.tensors[node.operands[0]].axes = {{0, 1, 2}, {}};
  plan.cost = CostOf(graph, plan);
  CHECK_THAT(CheckPlan(graph, plan),
             StatusIs(absl::StatusCode::kFailedPrecondition, "sharded differently"));
}

}  // namespace
}  // namespace yuba::search
