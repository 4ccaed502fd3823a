#include "opsemantics/definition/refine.h"

#include <random>

#include "catch2/catch.hpp"
#include "opsemantics/oracle/interpret.h"
#include "opsemantics/regions/boxes.h"
#include "tests/opsemantics/support/definitions.h"
#include "tests/opsemantics/support/registry.h"
#include "tests/opsemantics/support/strategies.h"

namespace yuba {
namespace {

using Factors = std::vector<int64_t>;
const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

TensorValue Filled(const TensorType& type) {
  TensorValue value{type, {}};
  value.elements.resize(ElementCount(type));
  for (size_t e = 0; e < value.elements.size(); ++e) {
    value.elements[e].hash = IsFloat(type.type) ? e * 0x9e3779b97f4a7c15 + 1 : e * 7 % 5;
  }
  return value;
}

std::vector<uint64_t> Evaluated(const Definition& definition) {
  std::vector<TensorValue> values;
  for (const TensorType& type : definition.operands) values.push_back(Filled(type));
  std::vector<const TensorValue*> operands;
  for (const TensorValue& value : values) operands.push_back(&value);
  TensorValue result{definition.result, {}};
  result.elements.resize(ElementCount(result.type));
  Interpret(definition, WholeRanges(definition), operands, Arithmetic::kHash, result);
  std::vector<uint64_t> elements;
  for (const Scalar& element : result.elements) elements.push_back(element.hash);
  return elements;
}

// Refines, and checks that the result has the same elements in the same order.
Definition Refined(const Definition& definition, const Refinement& refinement) {
  INFO(ToString(definition));
  const absl::optional<Definition> refined = TryRefine(definition, refinement);
  REQUIRE(refined.has_value());
  INFO(ToString(*refined));
  CHECK(Evaluated(definition) == Evaluated(*refined));
  return *refined;
}

TEST_CASE("an index is split as the dimensions along it, its parts named by number") {
  const Definition product = Define({4, 12, 6}, 2, Reducer::kSum, {{4, 6}, {6, 12}},
                                    Call(Function::kMul, {Read(0, {i, k}), Read(1, {k, j})}));
  const Definition refined = Refined(product, {{{{4}, {2, 3}}, {{2, 3}, {3, 4}}}, {{4}, {3, 4}}});
  CHECK(ToString(refined) ==
        "y[i: 4, j.0: 3, j.1: 4] = sum(k.0: 2, k.1: 3) x0[i, k.0, k.1] * x1[k.0, k.1, j.0, j.1]");
}

TEST_CASE("dimensions that split one index differently meet in the finest") {
  const Definition sum = Define({12}, 1, Reducer::kNone, {{12}, {12}},
                                Call(Function::kAdd, {Read(0, {i}), Read(1, {i})}));
  CHECK(ToString(Refined(sum, {{{{12}}, {{2, 6}}}, {{2, 3, 2}}})) ==
        "y[i.0: 2, i.1: 3, i.2: 2] = x0[i.0*6 + i.1*2 + i.2] + x1[i.0, i.1*2 + i.2]");
  CHECK_FALSE(TryRefine(sum, {{{{12}}, {{4, 3}}}, {{3, 4}}}).has_value());
}

TEST_CASE("slices and concatenations move whole factors") {
  const Definition slice = Define({8}, 1, Reducer::kNone, {{12}}, Read(0, {i + ConstantAffine(4)}));
  CHECK(ToString(Refined(slice, {{{{3, 4}}}, {{2, 4}}})) == "y[i.0: 2, i.1: 4] = x0[i.0 + 1, i.1]");
  CHECK_FALSE(TryRefine(Define({8}, 1, Reducer::kNone, {{12}}, Read(0, {i + ConstantAffine(3)})),
                        {{{{3, 4}}}, {{2, 4}}})
                  .has_value());
  const ExprPtr first = Call(Function::kLt, {IndexValue(i), Integer(4)});
  const Definition concat =
      Define({12}, 1, Reducer::kNone, {{4}, {8}},
             Call(Function::kSelect, {first, Read(0, {i}), Read(1, {i - ConstantAffine(4)})}));
  CHECK(ToString(Refined(concat, {{{{1, 4}}, {{2, 4}}}, {{3, 4}}})) ==
        "y[i.0: 3, i.1: 4] = if i.0*4 + i.1 < 4 then x0[i.0*4 + i.1] else x1[i.0 - 1, i.1]");
}

TEST_CASE("guarded reads, constraints, data conditions and argmax keep their meaning") {
  const Definition pad =
      Define({12}, 1, Reducer::kNone, {{4}}, Read(0, {i - ConstantAffine(4)}, Number(7)));
  CHECK(ToString(Refined(pad, {{{{2, 2}}}, {{3, 2, 2}}})) ==
        "y[i.0: 3, i.1: 2, i.2: 2] = (x0[i.0*2 + i.1 - 2, i.2] else 7)");
  Definition triangle = Define({6, 6}, 1, Reducer::kSum, {{6}}, Read(0, {j}));
  triangle.where.push_back({j - i, false});
  Refined(triangle, {{{{2, 3}}}, {{3, 2}}});
  Definition gather = Define({4, 6}, 1, Reducer::kPick, {{6}, {4}}, Read(0, {j}));
  gather.operands[1].type = ElementType::kI64;
  gather.data_where.push_back({j, Function::kEq, false, Read(1, {i})});
  Refined(gather, {{{{3, 2}}, {{2, 2}}}, {{2, 2}}});
  Definition arg = Define({2, 6, 1}, 1, Reducer::kArgMax, {{2, 6, 1}}, Read(0, {i, j, k}));
  arg.result.type = ElementType::kI64;
  Refined(arg, {{{{2}, {2, 3}, {1}}}, {{2}}});
}

TEST_CASE("indices of extent 1 disappear, windows of one tap stay") {
  const ExprPtr product =
      Call(Function::kMul, {Read(0, {i, k * 1 + j * 2}, Number(0)), Read(1, {i, k})});
  const Definition conv = Define({1, 3, 1}, 2, Reducer::kSum, {{1, 6}, {1, 1}}, product);
  CHECK(ToString(Refined(conv, {{{{1}, {6}}, {{1}, {1}}}, {{1}, {3}}})) ==
        "y[0, j: 3] = sum(k: 1) x0[0, j*2 + k] * x1[0, k]");
  const Definition mean = Define({3, 1}, 1, Reducer::kSum, {{3, 1}}, Read(0, {i, j}));
  CHECK(ToString(Refined(mean, {{{{3}, {1}}}, {{1, 3, 1}}})) == "y[i: 3] = x0[i, 0]");
}

// A random split of an extent.
Factors RandomFactors(int64_t extent, std::mt19937& random) {
  Factors factors;
  while (extent > 1 && factors.size() < 3) {
    int64_t factor = 1 + random() % extent;
    while (extent % factor != 0) --factor;
    factors.push_back(factor);
    extent /= factor;
  }
  factors.push_back(extent);
  return factors;
}

TEST_CASE("any split of batch, groups and channels computes the same") {
  std::mt19937 random(3);
  // y[n, c, p] = sum(a, u) (x[n, a, p*2 + u - 1] else 0) * f[c, a, u]
  const Definition conv = Define(
      {4, 6, 3, 4, 3}, 3, Reducer::kSum, {{4, 4, 6}, {6, 4, 3}},
      Call(Function::kMul, {Read(0, {i, l, k * 2 + IndexAffine(4) - ConstantAffine(1)}, Number(0)),
                            Read(1, {j, l, IndexAffine(4)})}));
  for (int trial = 0; trial < 60; ++trial) {
    const Factors n = RandomFactors(4, random), c = RandomFactors(6, random),
                  a = RandomFactors(4, random);
    Refined(conv, {{{n, a, {6}}, {c, a, {3}}}, {n, c, {3}}});
  }
}

// Splits each dimension at random, or as the index that runs along it bare is split.
Refinement RandomRefinement(const Definition& definition, std::mt19937& random) {
  std::vector<Factors> of_index;
  for (const Index& index : definition.indices)
    of_index.push_back(RandomFactors(index.extent, random));
  const auto split = [&](const Affine& position, int64_t extent) {
    const int index = position.BareIndex();
    if (index >= 0 && definition.indices[index].extent == extent && random() % 8 != 0) {
      return of_index[index];
    }
    return random() % 4 == 0 ? RandomFactors(extent, random) : Factors{extent};
  };
  Refinement refinement;
  for (const TensorType& type : definition.operands) {
    refinement.operands.emplace_back();
    for (int64_t dim : type.dims) refinement.operands.back().push_back({dim});
  }
  Walk(definition.body, [&](const Expr& expr) {
    for (size_t d = 0; d < expr.position.size(); ++d) {
      refinement.operands[expr.operand][d] =
          split(expr.position[d], definition.operands[expr.operand].dims[d]);
    }
  });
  for (size_t d = 0; d < definition.left.size(); ++d) {
    refinement.result.push_back(split(definition.left[d], definition.result.dims[d]));
  }
  return refinement;
}

// Checks the read boxes on two devices, under every partition.
void CheckReads(const Definition& definition) {
  const std::vector<TensorValue> operands = MadeUpOperands(definition, Arithmetic::kHash, 5);
  for (const Sharding& sharding : Strategies(definition, MeshOf(2))) {
    const NodeBoxes boxes = AnalyzeNode(definition, sharding, MeshOf(2));
    for (int device = 0; device < 2; ++device) {
      const std::vector<Box> logged = LoggedBoxes(definition, boxes.ranges[device], operands);
      for (size_t o = 0; o < logged.size(); ++o) {
        INFO(ToString(boxes.reads[device][o]) << " and " << ToString(logged[o]));
        CHECK(SameSet(boxes.reads[device][o], logged[o]));
      }
    }
  }
}

TEST_CASE("definitions of all operators, split at random, compute the same or are refused") {
  std::mt19937 random(4);
  int split = 0;
  for (const RegistryEntry& entry : RegistryDefinitions()) {
    INFO(entry.op << ": " << ToString(entry.definition));
    const std::vector<uint64_t> whole = Evaluated(entry.definition);
    for (int trial = 0; trial < 3; ++trial) {
      const auto refined = TryRefine(entry.definition, RandomRefinement(entry.definition, random));
      if (!refined.has_value()) continue;
      INFO(ToString(*refined));
      CHECK(Evaluated(*refined) == whole);
      CheckReads(*refined);
      ++split;
    }
  }
  CHECK(split > 500);
}

}  // namespace
}  // namespace yuba
