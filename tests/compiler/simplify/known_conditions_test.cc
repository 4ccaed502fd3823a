// KnowConditions: which conditions on data get a table, and which values it has. CheckKnownIndices:
// which indices are refused before anything runs.
#include <catch2/catch.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/simplify/simplify.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

// A gather of five of six rows by these indices, which `value` makes of the read of the constant.
Model GatherOf(const std::vector<int64_t>& ids, ExprPtr value = nullptr) {
  ModelBuilder build;
  Model model = build.Finish({build.Gather(build.Input({6, 2}), ids)});
  Definition definition = *model.graph.nodes[0].definition;
  if (value != nullptr) definition.data_where[0].value = std::move(value);
  model.graph.nodes[0].definition = std::make_shared<const Definition>(std::move(definition));
  return model;
}

ValueTablePtr TableOf(Model model) {
  KnowConditions(model);
  return model.graph.nodes[0].definition->data_where[0].table;
}

ExprPtr Wrapped(int64_t extent) {
  return Call(Function::kWrap, {Read(1, {IndexAffine(0)}), Integer(extent)});
}

TEST_CASE("a condition that reads a constant has its values") {
  const ValueTablePtr table = TableOf(GatherOf({4, 0, 0, 5, 1}));
  REQUIRE(table != nullptr);
  CHECK(table->indices == std::vector<int>{0});
  CHECK(table->extents == std::vector<int64_t>{5});
  CHECK(table->values == std::vector<int64_t>{4, 0, 0, 5, 1});
}

TEST_CASE("values are those of the whole expression, where both arithmetics agree") {
  const ValueTablePtr wrapped = TableOf(GatherOf({-1, 0, -6, 5, 1}, Wrapped(6)));
  REQUIRE(wrapped != nullptr);
  CHECK(wrapped->values == std::vector<int64_t>{5, 0, 0, 5, 1});
  // Out of range: nothing in floats, taken modulo the extent in hash arithmetic.
  CHECK(TableOf(GatherOf({-1, 0, 7, 5, 1}, Wrapped(6))) == nullptr);
  // With another index in it, a table of two.
  const ValueTablePtr both = TableOf(
      GatherOf({4, 0, 0, 5, 1},
               Call(Function::kAdd, {Read(1, {IndexAffine(0)}), IndexValue(IndexAffine(1) * 10)})));
  REQUIRE(both != nullptr);
  CHECK(both->indices == std::vector<int>{0, 1});
  CHECK(both->values == std::vector<int64_t>{4, 14, 0, 10, 0, 10, 5, 15, 1, 11});
}

TEST_CASE("other conditions have none") {
  Model model = GatherOf({4, 0, 0, 5, 1});
  const TensorId ids = model.graph.nodes[0].operands[1];
  for (const TensorKind kind : {TensorKind::kInput, TensorKind::kState}) {
    model.graph.tensors[ids].kind = kind;
    CHECK(TableOf(model) == nullptr);
  }
  model.graph.tensors[ids].kind = TensorKind::kConstant;
  model.values[ids].kind = InitialValue::kFile;
  CHECK(TableOf(model) == nullptr);
  CHECK(TableOf(GatherOf(std::vector<int64_t>(4096, 3))) != nullptr);
  CHECK(TableOf(GatherOf(std::vector<int64_t>(4097, 3))) == nullptr);
  CHECK(TableOf(GatherOf({int64_t{1} << 41, 0})) == nullptr);
}

TEST_CASE("known indices outside of their extents are refused, with node, tensor and extent") {
  CHECK_THAT(CheckKnownIndices(GatherOf({-1, 0, -6, 5, 1}, Wrapped(6))), IsOk());
  for (const int64_t outside : {6, -7}) {
    const absl::Status status = CheckKnownIndices(GatherOf({-1, 0, outside, 5, 1}, Wrapped(6)));
    INFO(status);
    CHECK(absl::IsInvalidArgument(status));
    const Model model = GatherOf({0, 0, 0, 0, 0});
    const std::string ids = model.graph.tensors[model.graph.nodes[0].operands[1]].name;
    CHECK(std::string(status.message()).find(ids + " holds " + std::to_string(outside)) !=
          std::string::npos);
    CHECK(std::string(status.message()).find("node " + model.graph.nodes[0].name) == 0);
    CHECK(std::string(status.message()).find("6 elements (-6 to 5)") != std::string::npos);
  }
  // Values that a user gives are known when the program runs.
  Model given = GatherOf({-1, 0, 9, 5, 1}, Wrapped(6));
  given.graph.tensors[given.graph.nodes[0].operands[1]].kind = TensorKind::kInput;
  CHECK_THAT(CheckKnownIndices(given), IsOk());
}

TEST_CASE("positions that a graph counts are known indices") {
  const auto counted = [](int64_t from) {
    return GatherOf(
        {0, 0, 0, 0, 0},
        Call(Function::kWrap, {IndexValue(IndexAffine(0) + ConstantAffine(from)), Integer(6)}));
  };
  CHECK_THAT(CheckKnownIndices(counted(1)), IsOk());
  CHECK(absl::IsInvalidArgument(CheckKnownIndices(counted(2))));
  // The same, computed by another node: r[i] = i + from.
  const auto ranged = [](int64_t from) {
    Model model = GatherOf({0, 0, 0, 0, 0}, Wrapped(6));
    const TensorId ids = model.graph.nodes[0].operands[1];
    Node range;
    range.name = "range";
    auto definition = std::make_shared<Definition>();
    definition->indices = {{"i", 5, false}};
    definition->result = {ElementType::kI64, {5}};
    definition->left = {IndexAffine(0)};
    definition->body = IndexValue(IndexAffine(0) + ConstantAffine(from));
    range.definition = definition;
    range.result = ids;
    model.values.erase(ids);
    model.graph.tensors[ids].kind = TensorKind::kActivation;
    model.graph.nodes.insert(model.graph.nodes.begin(), range);
    Link(model.graph);
    return model;
  };
  CHECK_THAT(CheckKnownIndices(ranged(1)), IsOk());
  CHECK(absl::IsInvalidArgument(CheckKnownIndices(ranged(2))));
}

}  // namespace
}  // namespace yuba::compiler
