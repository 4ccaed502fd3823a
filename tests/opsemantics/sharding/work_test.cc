#include "opsemantics/sharding/work.h"

#include <catch2/catch.hpp>

#include "opsemantics/regions/boxes.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2);

ExprPtr Product(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {a, b}); }

TEST_CASE("a product has operations at the points that there are, and bytes of what it touches") {
  const Definition product = Define({2, 3, 4}, 2, Reducer::kSum, {{2, 4}, {4, 3}},
                                    Product(Read(0, {i, k}), Read(1, {k, j})));
  const DefinitionWork whole = WorkOf(product, WholeRanges(product));
  CHECK(whole.kernel_class == KernelClass::kProduct);
  CHECK(whole.type == ElementType::kF32);
  CHECK(whole.points == 2 * 3 * 4);
  CHECK(whole.operations == 2 * 2 * 3 * 4);
  CHECK(whole.read == std::vector<double>{4 * 2 * 4, 4 * 4 * 3});
  CHECK(whole.written == 4 * 2 * 3);
  const KernelWork part = WorkOf(product, {{0, 1}, {0, 3}, {2, 4}}).Kernel(true);
  CHECK(part.library);
  CHECK(part.operations == 2 * 1 * 3 * 2);
  CHECK(part.bytes == 4 * (1 * 2 + 2 * 3 + 1 * 3));
  CHECK(part.results == 1 * 3);
  CHECK(WorkOf(product, {{0, 0}, {0, 3}, {0, 4}}).operations == 0);
}

TEST_CASE("indices that an equality ties together make no further points") {
  // dx[i] = sum(j, k where j*2 + k == i) dy[j] * f[k]: as many terms as dy and f have pairs
  Definition gradient =
      Define({9, 4, 2}, 1, Reducer::kSum, {{4}, {2}}, Product(Read(0, {j}), Read(1, {k})));
  gradient.where.push_back({j * 2 + k - i, true});
  CHECK(WorkOf(gradient, WholeRanges(gradient)).operations == 2 * 4 * 2);
  CHECK(WorkOf(gradient, WholeRanges(gradient)).kernel_class == KernelClass::kConvolution);
  // Of i in [0, 4) j is in [0, 2).
  CHECK(WorkOf(gradient, {{0, 4}, {0, 4}, {0, 2}}).operations == 2 * 2 * 2);
}

double Extras(const Definition& definition, Extra extra, bool library) {
  return WorkOf(definition, WholeRanges(definition))
      .Kernel(library)
      .extras[static_cast<int>(extra)];
}

TEST_CASE("quotients, functions and powers are counted apart, and are operations too") {
  // exp(x) / pow(x, x) + sqrt(x)
  const ExprPtr x = Read(0, {i});
  const Definition map =
      Define({12}, 1, Reducer::kNone, {{12}},
             Call(Function::kAdd,
                  {Call(Function::kDiv, {Call(Function::kExp, {x}), Call(Function::kPow, {x, x})}),
                   Call(Function::kSqrt, {x})}));
  CHECK(WorkOf(map, {{0, 12}}).operations == 5 * 12);
  CHECK(Extras(map, Extra::kRoot, false) == 2 * 12);
  CHECK(Extras(map, Extra::kFunction, false) == 12);
  CHECK(Extras(map, Extra::kPower, false) == 12);
}

TEST_CASE("a function of what is the same along a run is computed once before it, as a power is") {
  const Definition map = Define({4, 16}, 2, Reducer::kNone, {{4, 16}, {4}},
                                Product(Read(0, {i, j}), Call(Function::kExp, {Read(1, {i})})));
  CHECK(WorkOf(map, WholeRanges(map)).operations == 2 * 64);
  CHECK(Extras(map, Extra::kFunction, false) == 0);
  CHECK(Extras(map, Extra::kPower, false) == 4);
}

TEST_CASE("in short runs, and behind conditions, functions are of one element at a time") {
  const ExprPtr x = Read(0, {i, j});
  const ExprPtr both = Call(Function::kDiv, {Call(Function::kExp, {x}), x});
  const Definition brief = Define({4, 3}, 2, Reducer::kNone, {{4, 3}}, both);
  CHECK(Extras(brief, Extra::kRoot, false) == 0);
  CHECK(Extras(brief, Extra::kFunction, false) == 12);
  CHECK(Extras(brief, Extra::kPower, false) == 12);
  const ExprPtr positive = Call(Function::kLt, {Number(0), x});
  const Definition some =
      Define({4, 16}, 2, Reducer::kNone, {{4, 16}}, Call(Function::kSelect, {positive, both, x}));
  CHECK(Extras(some, Extra::kRoot, false) == 64);  // an instruction that loops may drop
  CHECK(Extras(some, Extra::kFunction, false) == 0);
  CHECK(Extras(some, Extra::kPower, false) == 64);
}

TEST_CASE("what is computed for one position of an index counts at that position alone") {
  const ExprPtr x = Read(0, {i, j});
  const ExprPtr first = Call(Function::kEq, {IndexValue(i), Integer(0)});
  const Definition map = Define({4, 16}, 2, Reducer::kNone, {{4, 16}},
                                Call(Function::kSelect, {first, Call(Function::kExp, {x}), x}));
  CHECK(Extras(map, Extra::kPower, false) == 64 / 4);
}

TEST_CASE("squares are no powers, also where the exponent is a sum") {
  const ExprPtr x = Read(0, {i});
  const ExprPtr two = Call(Function::kAdd, {Number(3), Number(-1)});
  const auto power = [&](const ExprPtr& exponent) {
    return Define({12}, 1, Reducer::kNone, {{12}}, Call(Function::kPow, {x, exponent}));
  };
  CHECK(Extras(power(two), Extra::kPower, false) == 0);
  CHECK(Extras(power(Number(3)), Extra::kPower, false) == 12);
}

TEST_CASE("generated code begins a run for each position of all but the innermost index") {
  const Definition map = Define({4, 64}, 2, Reducer::kNone, {{4, 64}}, Read(0, {i, j}));
  CHECK(Extras(map, Extra::kRun, false) == 4);
  CHECK(WorkOf(map, {{0, 2}, {0, 64}}).extras[static_cast<int>(Extra::kRun)] == 2);
  // Sums of columns run along the rows of the operand.
  const Definition sum = Define({64, 3}, 1, Reducer::kSum, {{3, 64}}, Read(0, {j, i}));
  CHECK(Extras(sum, Extra::kRun, false) == 3);
  // An index of one element is no run.
  const Definition column = Define({64, 1}, 2, Reducer::kNone, {{64, 1}}, Read(0, {i, j}));
  CHECK(Extras(column, Extra::kRun, false) == 1);
  // A short run is a part of one.
  const Definition brief = Define({4, 8}, 2, Reducer::kNone, {{4, 8}}, Read(0, {i, j}));
  CHECK(Extras(brief, Extra::kRun, false) == 4 * 8 / kPointsOfRun);
}

TEST_CASE("a library is called once for each product of a batch") {
  const Definition product = Define({2, 3, 4}, 2, Reducer::kSum, {{2, 4}, {4, 3}},
                                    Product(Read(0, {i, k}), Read(1, {k, j})));
  CHECK(Extras(product, Extra::kRun, true) == 1);
  const Definition dots =
      Define({5, 4}, 1, Reducer::kSum, {{5, 4}, {5, 4}}, Product(Read(0, {i, j}), Read(1, {i, j})));
  CHECK(Extras(dots, Extra::kRun, true) == 5);
  CHECK(WorkOf(dots, {{0, 2}, {0, 4}}).Kernel(true).extras[static_cast<int>(Extra::kRun)] == 2);
}

TEST_CASE("a library turns an operand whose rows lie along the sum") {
  const Definition plain = Define({2, 3, 4}, 2, Reducer::kSum, {{2, 4}, {4, 3}},
                                  Product(Read(0, {i, k}), Read(1, {k, j})));
  CHECK(Extras(plain, Extra::kTurned, true) == 0);
  const Definition turned = Define({2, 3, 4}, 2, Reducer::kSum, {{2, 4}, {3, 4}},
                                   Product(Read(0, {i, k}), Read(1, {j, k})));
  CHECK(Extras(turned, Extra::kTurned, true) == 3 * 4);
  CHECK(Extras(turned, Extra::kTurned, false) == 0);
}

TEST_CASE("a look-up of rows has points of the rows alone, and touches no others") {
  // y[i, j] = pick(k where k == ids[i]) t[k, j] of a table of 100 rows
  Definition rows = Define({4, 8, 100}, 2, Reducer::kPick, {{4}, {100, 8}}, Read(1, {k, j}));
  rows.operands[0].type = ElementType::kI64;
  DataCondition found;
  found.index = k;
  found.value = Read(0, {i});
  rows.data_where.push_back(found);
  const DefinitionWork work = WorkOf(rows, WholeRanges(rows));
  CHECK(work.kernel_class == KernelClass::kMap);
  CHECK(work.points == 4 * 8);
  CHECK(work.operations == 0);
  CHECK(work.read == std::vector<double>{8 * 4, 4 * 4 * 8});
}

TEST_CASE("a class follows from structure, and terms that are used twice count once") {
  const auto kind = [](const Definition& definition) {
    return WorkAtPoint(definition).kernel_class;
  };
  const Definition copy = Define({5}, 1, Reducer::kNone, {{5}}, Read(0, {i}));
  CHECK(kind(copy) == KernelClass::kMap);
  CHECK(WorkOf(copy, {{0, 5}}).operations == 0);
  const Definition sum = Define({5, 6}, 1, Reducer::kSum, {{5, 6}}, Read(0, {i, j}));
  CHECK(kind(sum) == KernelClass::kReduction);
  CHECK(WorkOf(sum, WholeRanges(sum)).operations == 5 * 6);
  const ExprPtr square = Product(Read(0, {i}), Read(0, {i}));
  const Definition fourth = Define({12}, 1, Reducer::kNone, {{12}}, Product(square, square));
  CHECK(WorkOf(fourth, {{0, 12}}).operations == 2 * 12);
}

}  // namespace
}  // namespace yuba
