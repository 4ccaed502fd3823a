// Conditions on data whose values are known: boxes are those of the elements that the interpreter
// reads, for random tables, definitions and parts.
#include "opsemantics/regions/value_tables.h"

#include "catch2/catch.hpp"
#include "opsemantics/definition/refine.h"
#include "opsemantics/regions/bounds.h"
#include "opsemantics/regions/box_factors.h"
#include "opsemantics/regions/boxes.h"
#include "tests/opsemantics/support/box_checks.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

// Adds a condition that compares `index` with the last operand, read at these indices, whose values
// are those of the table.
Definition Where(Definition definition, const Affine& index, Function compare, bool reversed,
                 std::vector<int> indices, std::vector<int64_t> values) {
  ValueTable table;
  std::vector<Affine> position;
  for (int at : indices) {
    position.push_back(IndexAffine(at));
    table.extents.push_back(definition.indices[at].extent);
  }
  table.indices = std::move(indices);
  table.values = std::move(values);
  const int operand = static_cast<int>(definition.operands.size());
  definition.operands.push_back({ElementType::kI64, table.extents});
  definition.data_where.push_back({index, compare, reversed, Read(operand, position),
                                   std::make_shared<const ValueTable>(std::move(table))});
  return definition;
}

std::vector<int64_t> Numbers(int64_t count, int64_t least, int64_t greatest, Random& random) {
  std::vector<int64_t> numbers;
  for (int64_t n = 0; n < count; ++n) numbers.push_back(Between(least, greatest, random));
  return numbers;
}

Definition Roll() {
  return Where(Define({8, 8}, 1, Reducer::kPick, {{8}}, Read(0, {j})), j, Function::kEq, false, {0},
               {6, 7, 0, 1, 2, 3, 4, 5});
}

TEST_CASE("a roll by a table reads what it moves") {
  const Definition roll = Roll();
  CHECK(ToString(roll) == "y[i: 8] = pick(j: 8 where j == x1[i] {6, 7, 0, 1, 2, 3, 4, 5}) x0[j]");
  CHECK(AnalyzeBoxes(roll, {{4, 8}, {0, 8}}).reads[0] == Box{{2, 6}});
  CHECK(AnalyzeBoxes(roll, {{4, 8}, {0, 8}}).reads[1] == Box{{4, 8}});
  CHECK(AnalyzeBoxes(roll, {{1, 3}, {0, 8}}).reads[0] == Box{{0, 8}});  // 7 and 0
  const Boxes part = AnalyzeBoxes(roll, {{0, 8}, {0, 2}});
  CHECK(part.writes == Box{{2, 4}});
  CHECK(part.reads[0] == Box{{0, 2}});
  CHECK(part.reads[1] == Box{{0, 8}});  // to find out
  CHECK(IsEmpty(AnalyzeBoxes(roll, {{4, 6}, {0, 2}}).reads[0]));
  Definition unknown = roll;
  unknown.data_where[0].table = nullptr;
  CHECK(AnalyzeBoxes(unknown, {{4, 8}, {0, 8}}).reads[0] == Box{{0, 8}});
  CHECK_FALSE(unknown == roll);
}

TEST_CASE("gathers, by tables of one and of two indices") {
  Random random(1);
  for (int n = 0; n < 100; ++n) {
    CheckParts(Where(Define({5, 4, 7}, 2, Reducer::kPick, {{7, 4}}, Read(0, {k, j})), k,
                     Function::kEq, false, {0}, Numbers(5, -1, 8, random)),
               5, random);
    CheckParts(Where(Define({4, 3, 7}, 2, Reducer::kPick, {{4, 7}}, Read(0, {i, k})), k,
                     Function::kEq, false, {0, 1}, Numbers(12, 0, 6, random)),
               5, random);
  }
}

TEST_CASE("sums with steps, offsets and windows behind a table") {
  Random random(2);
  for (int n = 0; n < 100; ++n) {
    // Resize with weights: y[i] = sum(j, k where k == t[i, j]) x[k] w[i, j]
    CheckParts(Where(Define({6, 2, 5}, 1, Reducer::kSum, {{5}, {6, 2}},
                            Call(Function::kMul, {Read(0, {k}), Read(1, {i, j})})),
                     k, Function::kEq, false, {0, 1}, Numbers(12, 0, 5, random)),
               5, random);
    CheckParts(Where(Define({6, 9}, 1, Reducer::kSum, {{9}}, Read(0, {j})), j * 2 + i,
                     Function::kEq, false, {0}, Numbers(6, 0, 20, random)),
               5, random);
    // A window of three round where the table points: positions that both indices are in.
    CheckParts(Where(Define({6, 9, 3}, 1, Reducer::kSum, {{9}},
                            Read(0, {j + k - ConstantAffine(1)}, Number(0))),
                     j, Function::kEq, false, {0}, Numbers(6, 0, 8, random)),
               5, random);
    CheckParts(Where(Define({6, 6}, 1, Reducer::kSum, {{13}}, Read(0, {i + j})), j, Function::kEq,
                     false, {0}, Numbers(6, 0, 5, random)),
               5, random);
  }
}

TEST_CASE("bounds from a table, below and above") {
  Random random(3);
  for (int n = 0; n < 60; ++n) {
    for (const Function compare : {Function::kEq, Function::kLt, Function::kLe}) {
      for (const bool reversed : {false, true}) {
        CheckParts(Where(Define({5, 9}, 1, Reducer::kSum, {{5, 9}}, Read(0, {i, j})), j, compare,
                         reversed, {0}, Numbers(5, -2, 10, random)),
                   3, random);
      }
    }
  }
}

TEST_CASE("scatters: a table of what is reduced says what is written") {
  Random random(4);
  for (int n = 0; n < 100; ++n) {
    CheckParts(Where(Define({6, 3, 7}, 2, Reducer::kSum, {{7, 3}}, Read(0, {k, j})), i,
                     Function::kEq, false, {2}, Numbers(7, -1, 6, random)),
               6, random);
  }
}

TEST_CASE("tables with constraints, with each other, with conditions in the body") {
  Random random(5);
  for (int n = 0; n < 100; ++n) {
    Definition band = Where(Define({6, 8}, 1, Reducer::kSum, {{6, 8}}, Read(0, {i, j})), j,
                            Function::kLe, false, {0}, Numbers(6, 0, 8, random));
    band.where.push_back({i - j - ConstantAffine(2), false});
    CheckParts(band, 4, random);
    CheckParts(Where(Where(Define({5, 7, 6}, 1, Reducer::kPick, {{7, 6}}, Read(0, {j, k})), j,
                           Function::kEq, false, {0}, Numbers(5, 0, 7, random)),
                     k, Function::kEq, false, {1}, Numbers(7, 0, 5, random)),
               4, random);
    const ExprPtr early = Call(Function::kLt, {IndexValue(j), Integer(Between(0, 7, random))});
    CheckParts(Where(Define({5, 7}, 1, Reducer::kSum, {{7}, {7}},
                            Call(Function::kSelect, {early, Read(0, {j}), Read(1, {j})})),
                     j, Function::kEq, false, {0}, Numbers(5, 0, 6, random)),
               4, random);
    // The table's index is compared with its own value: fixed points.
    CheckParts(Where(Define({1, 7}, 1, Reducer::kSum, {{7}}, Read(0, {j})), j, Function::kEq, false,
                     {1}, Numbers(7, 0, 6, random)),
               4, random);
  }
}

TEST_CASE("factors of boxes are those of whole boxes") {
  Random random(6);
  for (int n = 0; n < 60; ++n) {
    const Definition gather = Where(Define({6, 4, 7}, 2, Reducer::kSum, {{7, 4}}, Read(0, {k, j})),
                                    k, Function::kEq, false, {0}, Numbers(6, 0, 7, random));
    for (const int operand : {-1, 0, 1}) {
      const BoxFactors factors(gather, operand, operand < 0);
      const std::vector<Interval> part = {{Between(0, 2, random), Between(3, 6, random)},
                                          {0, 2},
                                          {Between(0, 3, random), Between(4, 6, random)}};
      const Boxes whole = AnalyzeBoxes(gather, part);
      const Box& expected = operand < 0 ? whole.writes : whole.reads[operand];
      Box box(expected.size());
      bool empty = false;
      for (size_t f = 0; f < factors.factors().size(); ++f) {
        std::vector<Interval> ranges;
        for (int index : factors.factors()[f].indices) ranges.push_back(part[index]);
        const BoxFactors::Piece piece = factors.Of(static_cast<int>(f), ranges);
        empty |= piece.empty;
        for (size_t d = 0; d < piece.box.size(); ++d)
          box[factors.factors()[f].dims[d]] = piece.box[d];
      }
      INFO("operand " << operand);
      CHECK(empty == IsEmpty(expected));
      if (!empty) CHECK(box == expected);
    }
  }
}

TEST_CASE("a table over an index that is split is one over its factors") {
  Random random(7);
  for (int n = 0; n < 30; ++n) {
    const Definition gather = Where(Define({6, 8}, 1, Reducer::kPick, {{8}}, Read(0, {j})), j,
                                    Function::kEq, false, {0}, Numbers(6, 0, 7, random));
    Definition refined = Refine(gather, {{{{8}}, {{2, 3}}}, {{2, 3}}});
    REQUIRE(refined.data_where[0].table != nullptr);
    CHECK(refined.data_where[0].table->indices == std::vector<int>{0, 1});
    CHECK(refined.data_where[0].table->extents == std::vector<int64_t>{2, 3});
    CheckParts(refined, 5, random);
  }
}

TEST_CASE("values at points and over ranges") {
  const ValueTable table = {{0, 2}, {2, 3}, {5, -1, 4, 0, 9, 2}};
  CHECK(ValueAt(table, {1, 7, 2}) == 2);
  CHECK(ValuesOver(table, {{0, 2}, {0, 9}, {0, 3}}) == Interval{-1, 10});
  CHECK(ValuesOver(table, {{0, 1}, {0, 9}, {1, 3}}) == Interval{-1, 5});
  std::vector<Interval> ranges = {{0, 2}, {0, 9}, {0, 3}};
  CHECK(KeepAllowed(table, {4, 6}, ranges));
  CHECK(ranges == std::vector<Interval>{{0, 1}, {0, 9}, {0, 3}});
  CHECK_FALSE(KeepAllowed(table, {6, 9}, ranges));
  const ValueTable constant = {{}, {}, {3}};
  CHECK(ValueAt(constant, {}) == 3);
  CHECK(ValuesOver(constant, {}) == Interval{3, 4});
}

}  // namespace
}  // namespace yuba
