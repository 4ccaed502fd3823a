// The form of opaque definitions: what may be cut, what their function gets, what is malformed, and
// that what rewrites definitions leaves the dimensions of slices alone.
#include "opsemantics/definition/opaque.h"

#include <catch2/catch.hpp>
#include <functional>

#include "opsemantics/definition/linear.h"
#include "opsemantics/definition/refine.h"
#include "opsemantics/oracle/interpret.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/regions/structure.h"
#include "opsemantics/sharding/work.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2);

// y[i, j] = opaque argsort(k) x0[i, k]: rows of `columns` elements.
Definition Sorted(int64_t rows, int64_t columns) {
  Definition definition = Define({rows, columns, columns}, 2, Reducer::kOpaque, {{rows, columns}},
                                 Call(Function::kOpaque, {Read(0, {i, k})}));
  definition.result.type = ElementType::kI64;
  definition.opaque = {"argsort", {1}, 12};
  return definition;
}

TEST_CASE("an opaque definition is cut along what its reads share with its result") {
  const Definition sorted = Sorted(4, 8);
  CHECK(WhyOpaqueIllegal(sorted).empty());
  CHECK(ToString(sorted) == "y[i: 4, j: 8] = opaque argsort(k: 8; 1) x0[i, k]");
  CHECK(CuttableIndices(sorted) == std::vector<int>{0});
  CHECK(!MayBeCut(sorted, 1));
  CHECK(!MayBeCut(sorted, 2));
  const OpaqueSignature signature = SignatureOf(sorted);
  REQUIRE(signature.arguments.size() == 1);
  CHECK(signature.arguments[0].extents == std::vector<int64_t>{8});
  CHECK(signature.result.extents == std::vector<int64_t>{8});
  CHECK(signature.result.type == ElementType::kI64);
  CHECK(signature.attributes == std::vector<double>{1});
  const Boxes boxes = AnalyzeBoxes(sorted, {{1, 3}, {0, 8}, {0, 8}});
  CHECK(boxes.reads[0] == Box{{1, 3}, {0, 8}});
  CHECK(boxes.writes == Box{{1, 3}, {0, 8}});
  const DefinitionWork work = WorkOf(sorted, {{1, 3}, {0, 8}, {0, 8}});
  CHECK(work.operations == 2 * 12);
  CHECK(work.bytes() == 2 * 8 * (4 + 8));  // slices are whole
}

TEST_CASE("an opaque definition has no partials, is no map and linear in nothing") {
  const Definition sorted = Sorted(4, 8);
  CHECK(!MayHavePartials(sorted.reducer));
  CHECK(!IsMap(sorted));
  CHECK(!MatchView(sorted).has_value());
  CHECK(!MatchContraction(sorted).has_value());
  CHECK(!IsLinearIn(sorted, {0}));
}

TEST_CASE("what differs in the function, its attributes or operations is another definition") {
  const Definition sorted = Sorted(4, 8);
  Definition other = sorted;
  CHECK(other == sorted);
  other.opaque.attributes = {0};
  CHECK(!(other == sorted));
  CHECK(ToString(other) != ToString(sorted));
  other = sorted;
  other.opaque.flops = 13;
  CHECK(!(other == sorted));
}

TEST_CASE("factors split what may be cut, and never a slice") {
  const Definition sorted = Sorted(6, 8);
  const Definition refined = Refine(sorted, {{{{2, 3}, {8}}}, {{2, 3}, {8}}});
  CHECK(ToString(refined) == "y[i.0: 2, i.1: 3, j: 8] = opaque argsort(k: 8; 1) x0[i.0, i.1, k]");
  CHECK(WhyOpaqueIllegal(refined).empty());
  CHECK(CuttableIndices(refined) == std::vector<int>{0, 1});
  CHECK_FALSE(TryRefine(sorted, {{{{6}, {2, 4}}}, {{6}, {8}}}).has_value());
  CHECK_FALSE(TryRefine(sorted, {{{{6}, {8}}}, {{6}, {2, 4}}}).has_value());
  // A slice of one element, and one slice alone, keep their indices.
  for (const Definition& definition : {Sorted(5, 1), Sorted(1, 5), Sorted(1, 1)}) {
    const int64_t rows = definition.result.dims[0], columns = definition.result.dims[1];
    const Definition same = Refine(definition, {{{{rows}, {columns}}}, {{rows}, {columns}}});
    CHECK(same == definition);
    CHECK(WhyOpaqueIllegal(same).empty());
  }
}

TEST_CASE("what is no opaque definition is found") {
  const std::pair<const char*, std::function<void(Definition&)>> mistakes[] = {
      {"no opaque function is called 'sort_all'", [](auto& d) { d.opaque.function = "sort_all"; }},
      {"it takes one operand and the attribute", [](auto& d) { d.opaque.attributes.clear(); }},
      {"its result is i64", [](auto& d) { d.result.type = ElementType::kF32; }},
      {"calls no opaque function", [](auto& d) { d.reducer = Reducer::kMax; }},
      {"no conditions", [](auto& d) { d.where.push_back({j - k, true}); }},
      {"no conditions and no partials", [](auto& d) { d.partial = true; }},
      {"is a list of reads", [](auto& d) { d.body = Read(0, {i, k}); }},
      {"is a list of reads",
       [](auto& d) { d.body = Call(Function::kOpaque, {Read(0, {i, k}, Number(0))}); }},
      {"is a list of reads", [](auto& d) { d.body = Call(Function::kOpaque, {Read(1, {i, k})}); }},
      {"run along its dimensions alone",
       [](auto& d) { d.body = Call(Function::kOpaque, {Read(0, {i, k + j})}); }},
      {"run along its dimensions alone",
       [](auto& d) { d.body = Call(Function::kOpaque, {Read(0, {k, k})}); }},
      {"run along its dimensions alone",
       [](auto& d) { d.body = Call(Function::kOpaque, {Read(0, {i})}); }},
      {"along the result's dimensions alone", [](auto& d) { d.left[1] = ConstantAffine(0); }},
      {"is of one operand", [](auto& d) { d.body = Call(Function::kOpaque, {Read(0, {i, j})}); }},
  };
  for (const auto& [message, mistake] : mistakes) {
    Definition definition = Sorted(4, 8);
    mistake(definition);
    INFO(message << ": " << WhyOpaqueIllegal(definition));
    CHECK(WhyOpaqueIllegal(definition).find(message) != std::string::npos);
  }
}

TEST_CASE("the interpreter calls the function for each slice of its part") {
  const Definition sorted = Sorted(3, 4);
  TensorValue x = {{ElementType::kF32, {3, 4}}, {}}, y = {sorted.result, {}};
  for (double number : {3., 1., 3., 2., 0., 0., 0., 0., -1., 5., 2., 9.}) {
    x.elements.emplace_back();
    x.elements.back().number = number;
  }
  y.elements.resize(12);
  for (Scalar& element : y.elements) element.integer = -1;
  int64_t reads = 0;
  Interpret(sorted, {{1, 3}, {0, 4}, {0, 4}}, {&x}, Arithmetic::kFloat, y,
            [&reads](int operand, const std::vector<int64_t>& position) {
              CHECK(operand == 0);
              CHECK(position[0] >= 1);
              ++reads;
            });
  CHECK(reads == 8);
  std::vector<int64_t> got;
  for (const Scalar& element : y.elements) got.push_back(element.integer);
  CHECK(got == std::vector<int64_t>{-1, -1, -1, -1, 0, 1, 2, 3, 3, 1, 2, 0});
}

}  // namespace
}  // namespace yuba
