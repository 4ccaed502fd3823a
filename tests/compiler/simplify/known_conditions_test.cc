// KnowConditions: which conditions on data get a table, and which values it has.
#include <catch2/catch.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/simplify/simplify.h"
#include "tests/compiler/support/small_graphs.h"
#include "tests/opsemantics/support/definitions.h"

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

}  // namespace
}  // namespace yuba::compiler
