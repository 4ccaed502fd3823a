// Repeated blocks: found by structure, and solved as a few of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "search/check/check.h"
#include "search/model/shorten.h"
#include "search/model/ties.h"
#include "search/rewrite/copies.h"
#include "search/search.h"
#include "tests/support/engines.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

constexpr int64_t kWidth = 96, kBatch = 64;

// A ladder as training has it: products with weights and relus, and back with the gradients of all
// weights. `wide`: the layer whose product is twice as wide, -1: none. `late`: the gradients of the
// weights come after those of all layers, in the order of the layers.
struct Ladder {
  Graph graph;
  std::vector<TensorId> weights, gradients;  // by layer
};
Ladder LadderOf(int layers, int wide = -1, bool late = false, const std::string& names = "t") {
  GraphBuilder b(names);
  Ladder ladder;
  std::vector<TensorId> values = {b.Input({kBatch, kWidth})};
  for (int i = 0; i < layers; ++i) {
    const int64_t rows = b.Dims(values.back())[1], columns = i == wide ? 2 * kWidth : kWidth;
    ladder.weights.push_back(b.Parameter({rows, columns}));
    values.push_back(b.Relu(b.Matmul(values.back(), ladder.weights.back())));
  }
  std::vector<TensorId> back = {b.Relu(values.back())};
  const auto add_gradient = [&](int i) {
    ladder.gradients[i] = b.Matmul(b.Transpose(values[i]), back[layers - 1 - i]);
  };
  ladder.gradients.resize(layers);
  for (int i = layers - 1; i >= 0; --i) {
    if (!late) add_gradient(i);
    back.push_back(b.Matmul(back.back(), b.Transpose(ladder.weights[i])));
  }
  for (int i = 0; late && i < layers; ++i) add_gradient(i);
  ladder.graph = b.Finish(ladder.gradients);
  return ladder;
}

SearchOptions On(int devices) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  return options;
}

Problem ProblemOf(const Graph& graph, const Restrictions& restrictions = {}) {
  ProblemOptions options;
  options.mesh = MeshOf(4);
  options.axes = {0, 1};
  options.restrictions = restrictions;
  return BuildProblem(graph, options);
}

std::vector<int> NextOf(const Graph& graph, const Restrictions& restrictions = {}) {
  return NextRepetition(graph, VariablesOf(ProblemOf(graph, restrictions)));
}

TEST_CASE("the dual of a few blocks, tiled to all, begins where that of all ends") {
  const Graph graph = WithCopies(LadderOf(24).graph);
  const Mesh mesh = MeshOf(64);
  const std::vector<TensorUse> uses = TensorUsesOf(graph, mesh);
  const absl::optional<GridProblem> all = BuildGridProblem(graph, mesh, uses, false);
  REQUIRE(all.has_value());
  const absl::optional<ShortProblem> few = Shortened(graph, uses, *all);
  REQUIRE(few.has_value());
  CHECK(few->elements.size() < all->grids.size() / 2);
  REQUIRE(few->like.size() == uses.size());
  // Each use begins with the messages of one like it, and each element has a like one.
  for (size_t u = 0; u < uses.size(); ++u) {
    CHECK(few->pairwise.factors[few->like[u]].cells == all->pairwise.factors[u].cells);
  }
  for (size_t e = 0; e < all->grids.size(); ++e) {
    CHECK(all->grids[few->elements[few->stand_in[e]]] == all->grids[e]);
  }
  const auto in_order = [](const PairwiseProblem& problem) {
    std::vector<int> order(problem.variables.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  };
  DualOptions options;
  options.sweeps = 100;
  options.keep_state = true;
  const Dual of_few = MaximiseDual(few->pairwise, in_order(few->pairwise), options);
  const int64_t best = MaximiseDual(all->pairwise, in_order(all->pairwise), options).bound;
  options.sweeps = 1;
  const MessageState tiled = Tiled(*few, of_few.state);
  options.start = &tiled;
  const int64_t from_tiled = MaximiseDual(all->pairwise, in_order(all->pairwise), options).bound;
  options.start = nullptr;
  options.sweeps = 0;
  const int64_t from_nothing = MaximiseDual(all->pairwise, in_order(all->pairwise), options).bound;
  CHECK(best > 0);
  CHECK(from_tiled >= best - best / 500);
  CHECK(from_nothing < from_tiled);
}

TEST_CASE("a graph of few blocks has no short problem") {
  const Graph graph = LadderOf(6).graph;
  const std::vector<TensorUse> uses = TensorUsesOf(graph, MeshOf(64));
  const absl::optional<GridProblem> all = BuildGridProblem(graph, MeshOf(64), uses, false);
  REQUIRE(all.has_value());
  CHECK_FALSE(Shortened(graph, uses, *all).has_value());
}

TEST_CASE("a use that stands for no other has its own table in the tied problem") {
  const Graph graph = LadderOf(24).graph;
  const std::vector<TensorUse> uses = TensorUsesOf(graph, MeshOf(64));
  const absl::optional<GridProblem> all = BuildGridProblem(graph, MeshOf(64), uses, false);
  REQUIRE(all.has_value());
  const VariableMap variables = VariablesOf(*all);
  const std::vector<int> numbers = TiedVariables(variables, NextRepetition(graph, variables), 2);
  std::set<Cells> own;
  for (const Factor& factor : all->pairwise.factors) own.insert(factor.cells);
  size_t shared = 0, cells = 0;
  for (const Factor& factor : Tied(all->pairwise, numbers).factors) {
    cells += factor.cells->size();
    if (own.count(factor.cells) > 0) shared += factor.cells->size();
  }
  CHECK(2 * shared > cells);
  CHECK(shared < cells);
}

TEST_CASE("a ladder is shifted forward and backward at once") {
  const int layers = 20, ends = 4;
  for (const bool late : {false, true}) {
    const Ladder ladder = LadderOf(layers, -1, late);
    const std::vector<int> next = NextOf(ladder.graph);
    // All shift by one layer the same way.
    const int step = next[ladder.weights[layers / 2]] == ladder.weights[layers / 2 + 1] ? 1 : -1;
    for (int i = ends; i < layers - ends; ++i) {
      CAPTURE(late, i);
      CHECK(next[ladder.weights[i]] == ladder.weights[i + step]);
      CHECK(next[ladder.gradients[i]] == ladder.gradients[i + step]);
    }
    const int tensors = static_cast<int>(ladder.graph.tensors.size());
    for (size_t n = 0; n < ladder.graph.nodes.size(); ++n) {
      if (next[tensors + n] < 0) continue;
      const Node &node = ladder.graph.nodes[n],
                 &later = ladder.graph.nodes[next[tensors + n] - tensors];
      CHECK(node.definition->operands == later.definition->operands);
      for (size_t o = 0; o < node.operands.size(); ++o) {
        const int of_operand = next[node.operands[o]];
        if (of_operand >= 0) CHECK(of_operand == later.operands[o]);
      }
    }
  }
}

// Steps h = relu((h + x[t]) w) with one weight, where x[t] are rows of one input; the output is the
// sum of all h.
struct Loop {
  Graph graph;
  std::vector<TensorId> states;  // by step
};
Loop LoopOf(int steps) {
  GraphBuilder b("t");
  Loop loop;
  const TensorId x = b.Input({steps * kBatch, kWidth}), w = b.Parameter({kWidth, kWidth});
  TensorId h = b.Input({kBatch, kWidth});
  for (int t = 0; t < steps; ++t) {
    h = b.Relu(b.Matmul(b.Add(h, b.Slice(x, t * kBatch, kBatch)), w));
    loop.states.push_back(h);
  }
  loop.graph = WithSumOf(b.Finish(loop.states), loop.states);
  return loop;
}

TEST_CASE("steps that read other rows of an input and meet in one sum repeat each other") {
  const int steps = 20, ends = 3;
  const Loop loop = LoopOf(steps);
  const std::vector<int> next = NextOf(loop.graph);
  const int step = next[loop.states[steps / 2]] == loop.states[steps / 2 + 1] ? 1 : -1;
  for (int t = ends; t < steps - ends; ++t) {
    CAPTURE(t);
    CHECK(next[loop.states[t]] == loop.states[t + step]);
  }
}

TEST_CASE("blocks that differ in shape, or in their pins, are not tied") {
  const int layers = 20, other = 10;
  const Ladder plain = LadderOf(layers);
  const Ladder wider = LadderOf(layers, other);
  Restrictions pinned(plain.graph.tensors.size() + plain.graph.nodes.size());
  pinned[plain.weights[other]].any_of = {OnlyExtent(2, 0)};
  const std::vector<int> all = NextOf(plain.graph);
  const std::vector<int> by_shape = NextOf(wider.graph);
  const std::vector<int> by_pin = NextOf(plain.graph, pinned);
  CHECK(all[plain.weights[other]] >= 0);
  CHECK(by_shape[wider.weights[other]] < 0);
  CHECK(by_pin[plain.weights[other]] < 0);
  for (const std::vector<int>* next : {&by_shape, &by_pin}) {
    CHECK(std::count(next->begin(), next->end(), plain.weights[other]) == 0);
    CHECK((*next)[plain.weights[4]] >= 0);  // there are still repetitions on both sides
    CHECK((*next)[plain.weights[15]] >= 0);
  }
}

// By layer the layer that its weight is tied to.
std::vector<int> ShiftsOf(const Ladder& ladder) {
  const std::vector<int> next = NextOf(ladder.graph);
  std::vector<int> shifts;
  for (const TensorId weight : ladder.weights) {
    const auto& all = ladder.weights;
    shifts.push_back(
        static_cast<int>(std::find(all.begin(), all.end(), next[weight]) - all.begin()));
  }
  return shifts;
}

TEST_CASE("neither names nor the order of the nodes decide what repeats") {
  const std::vector<int> shifts = ShiftsOf(LadderOf(16));
  CHECK(ShiftsOf(LadderOf(16, -1, false, "other")) == shifts);
  CHECK(ShiftsOf(LadderOf(16, -1, true)) == shifts);
}

TEST_CASE("two repetitions apart are two classes, and a loop becomes its diagonal") {
  const Graph graph = MatmulChain(std::vector<int64_t>(25, kWidth), kBatch);
  const Problem problem = ProblemOf(graph);
  const VariableMap variables = VariablesOf(problem);
  const std::vector<int> next = NextRepetition(graph, variables);
  size_t before = 0;
  for (const int period : {1, 2}) {
    const std::vector<int> numbers = TiedVariables(variables, next, period);
    const PairwiseProblem tied = Tied(problem.pairwise, numbers);
    CHECK(tied.variables.size() < problem.elements.size() / 2);
    CHECK(tied.variables.size() > before);
    before = tied.variables.size();
    std::mt19937 random(period);
    for (int trial = 0; trial < 20; ++trial) {
      Assignment some, all;
      for (const DomainPtr& domain : tied.variables)
        some.push_back(static_cast<int>(random() % domain->size));
      for (const int number : numbers) all.push_back(some[number]);
      CHECK(CostOf(tied, some) == CostOf(problem.pairwise, all));
    }
  }
}

TEST_CASE("chains of any length are solved as a few of their blocks") {
  for (const int layers : {16, 32, 64}) {
    CAPTURE(layers);
    const Graph graph = MatmulChain(std::vector<int64_t>(layers + 1, kWidth), kBatch);
    const Plan best = Search(graph, On(8)).value();
    REQUIRE(best.cost.bytes() == best.lower_bound);
    const Plan repeated = Search(graph, Only(On(8), {"repeat"})).value();
    CHECK_THAT(CheckPlan(graph, repeated), IsOk());
    CHECK(repeated.cost.bytes() == best.cost.bytes());
  }
}

TEST_CASE("each further block of a ladder costs the same") {
  std::vector<int64_t> bytes;
  for (const int layers : {16, 24, 32}) {
    const Graph graph = WithCopies(LadderOf(layers).graph);
    const Plan plan = Search(graph, Only(On(8), {"repeat"})).value();
    CHECK_THAT(CheckPlan(graph, plan), IsOk());
    bytes.push_back(plan.cost.bytes());
  }
  CHECK(bytes[2] - bytes[1] == bytes[1] - bytes[0]);
}

TEST_CASE("on grids too, chains of any length are solved as a few of their blocks") {
  const auto bytes_of = [](int layers) {
    const Graph graph = MatmulChain(std::vector<int64_t>(layers + 1, 2 * kWidth), kBatch);
    const Plan plan = Search(graph, Only(On(128), {"grids", "axes", "repeat"})).value();
    CHECK_THAT(CheckPlan(graph, plan), IsOk());
    return plan.cost.bytes();
  };
  CHECK(bytes_of(96) - bytes_of(64) == bytes_of(64) - bytes_of(32));
}

TEST_CASE("repeated blocks get equal copies") {
  std::vector<int> copies;
  for (const int layers : {16, 24, 32}) {
    const Graph graph = LadderOf(layers).graph;
    copies.push_back(static_cast<int>(WithCopies(graph).nodes.size() - graph.nodes.size()));
  }
  CHECK(copies[0] > 0);
  CHECK(copies[2] - copies[1] == copies[1] - copies[0]);
}

}  // namespace
}  // namespace yuba::search
