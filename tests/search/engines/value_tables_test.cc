// Graphs in which tables say what moves: gathers, rolls and scatters by constants. The search
// against an enumeration of all plans, priced by marking elements one by one.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "search/check/check.h"
#include "search/search.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/support/against_enumeration.h"
#include "tests/support/enumeration.h"
#include "tests/support/marking.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2);

class Builder {
 public:
  TensorId Tensor(TensorKind kind, TensorType type) {
    yuba::Tensor tensor;
    tensor.name = "t" + std::to_string(graph_.tensors.size());
    tensor.kind = kind;
    for (const int64_t dim : type.dims) tensor.dims.push_back({dim});
    tensor.type = std::move(type);
    graph_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph_.tensors.size()) - 1;
  }
  TensorId Input(std::vector<int64_t> dims) {
    const TensorId id = Tensor(TensorKind::kInput, {ElementType::kF32, std::move(dims)});
    graph_.inputs.push_back(id);
    return id;
  }
  TensorId Exp(TensorId x) {
    const std::vector<int64_t> dims = graph_.tensors[x].type.dims;
    return Node(Define(dims, 2, Reducer::kNone, {dims}, Call(Function::kExp, {Read(0, {i, j})})),
                {x});
  }
  // y[i, j] = pick(r where r == t[i]) x[r, j]; with `scatter` sum(r where i == t[r]) x[r, j].
  TensorId ByTable(TensorId x, int64_t extent, bool scatter, std::vector<int64_t> values,
                   bool known) {
    const std::vector<int64_t> dims = graph_.tensors[x].type.dims;
    const auto count = static_cast<int64_t>(values.size());
    Definition definition =
        Define({extent, dims[1], dims[0]}, 2, scatter ? Reducer::kSum : Reducer::kPick,
               {dims, {count}}, Read(0, {k, j}));
    definition.operands[1].type = ElementType::kI64;
    const ValueTable table = {{scatter ? 2 : 0}, {count}, std::move(values)};
    definition.data_where.push_back({scatter ? i : k, Function::kEq, false,
                                     Read(1, {scatter ? k : i}),
                                     known ? std::make_shared<const ValueTable>(table) : nullptr});
    const TensorId ids = Tensor(TensorKind::kConstant, {ElementType::kI64, {count}});
    return Node(std::move(definition), {x, ids});
  }
  Graph Finish(TensorId output) {
    graph_.outputs = {output};
    Link(graph_);
    CheckGraph(graph_);
    return graph_;
  }

 private:
  TensorId Node(Definition definition, std::vector<TensorId> operands) {
    yuba::Node node;
    node.result = Tensor(TensorKind::kActivation, definition.result);
    node.name = graph_.tensors[node.result].name;
    node.operands = std::move(operands);
    node.definition = std::make_shared<const Definition>(std::move(definition));
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().result;
  }

  Graph graph_;
};

// exp, a gather of rows, exp: of [16, 1], so that rows alone can be cut.
Graph RowsMoved(const std::vector<int64_t>& values, bool known) {
  Builder build;
  const TensorId x = build.Exp(build.Input({16, 1}));
  return build.Finish(build.Exp(build.ByTable(x, 16, false, values, known)));
}

int64_t BytesOn(const Graph& graph, int devices) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->lower_bound == plan->cost.bytes());
  CHECK(MarkedBytes(graph, options.mesh, ShardingsOf(plan->tensors), ShardingsOf(plan->nodes)) ==
        plan->cost.bytes());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  return plan->cost.bytes();
}

TEST_CASE("a shift by a table moves a halo on four devices, and all without the table") {
  std::vector<int64_t> shifted, rolled;
  for (int64_t row = 0; row < 16; ++row) {
    shifted.push_back(std::max<int64_t>(row - 2, 0));
    rolled.push_back((row + 14) % 16);
  }
  constexpr int64_t kRow = 4;  // bytes
  CHECK(BytesOn(RowsMoved(shifted, true), 4) == 3 * 2 * kRow);
  // The first device reads rows 14, 15, 0 and 1: one box, which is everything.
  CHECK(BytesOn(RowsMoved(rolled, true), 4) == (3 * 2 + 12) * kRow);
  CHECK(BytesOn(RowsMoved(shifted, false), 4) == 4 * 12 * kRow);
}

Graph RandomGraph(std::mt19937& random) {
  const auto below = [&random](int64_t limit) { return static_cast<int64_t>(random() % limit); };
  Builder build;
  int64_t rows = 2 + below(7);
  TensorId x = build.Input({rows, 1 + below(3)});
  const int64_t nodes = 2 + below(2);
  for (int64_t n = 0; n < nodes; ++n) {
    if (below(3) == 0) {
      x = build.Exp(x);
      continue;
    }
    const bool scatter = below(2) == 0;
    const int64_t extent = 2 + below(7), count = scatter ? rows : extent;
    std::vector<int64_t> values;
    const bool sorted = below(2) == 0;
    for (int64_t v = 0; v < count; ++v) values.push_back(below(scatter ? extent : rows));
    if (sorted) std::sort(values.begin(), values.end());
    x = build.ByTable(x, extent, scatter, values, true);
    rows = extent;
  }
  return build.Finish(x);
}

TEST_CASE("random tables against enumeration") {
  int compared = 0, proven = 0;
  for (const int devices : {2, 3, 4, 6}) {
    std::mt19937 random(static_cast<uint32_t>(devices));
    for (int n = 0; n < 60; ++n) {
      CAPTURE(devices, n);
      const Graph graph = RandomGraph(random);
      const auto tried = CompareWithAllPlans(graph, TriedSpace(), OptionsFor({}, devices));
      if (!tried.has_value()) continue;
      SearchOptions options = tried->options;
      options.search = "recursive";
      const absl::StatusOr<Plan> recursive = Search(graph, options);
      REQUIRE_THAT(recursive, IsOk());
      CHECK(recursive->cost.bytes() >= tried->least);
      ++compared;
      proven += tried->IsProven();
    }
  }
  CHECK(compared > 150);
  CHECK(proven >= 0.9 * compared);
}

}  // namespace
}  // namespace yuba::search
