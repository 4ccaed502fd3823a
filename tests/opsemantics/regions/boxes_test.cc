// Derived boxes against the elements that the interpreter reads and writes, on random definitions
// and random parts of them.
#include "opsemantics/regions/boxes.h"

#include <algorithm>
#include <random>

#include "catch2/catch.hpp"
#include "opsemantics/regions/bounds.h"
#include "opsemantics/regions/conditions.h"
#include "tests/opsemantics/support/box_checks.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

// One window of a convolution: extents, and where it reads.
struct Window {
  int64_t in, out, kernel, stride, dilation, low;
};
Window RandomWindow(Random& random) {
  Window w;
  w.in = Between(1, 12, random);
  w.kernel = Between(1, 4, random);
  w.stride = Between(1, 4, random);
  w.dilation = Between(1, 3, random);
  w.low = Between(0, 4, random);
  w.out = Between(1, 7, random);
  return w;
}

TEST_CASE("convolutions read exactly the window's reach, clipped to what is hit") {
  Random random(11);
  for (int trial = 0; trial < 1500; ++trial) {
    const Window w = RandomWindow(random), v = RandomWindow(random);
    const auto at = [](const Window& window, int p, int u) {
      return IndexAffine(p) * window.stride + IndexAffine(u) * window.dilation -
             ConstantAffine(window.low);
    };
    // y[p, q] = sum(u, v, c) (x[c, h, w] else 0) * f[c, u, v]
    const Definition definition =
        Define({w.out, v.out, w.kernel, v.kernel, 2}, 2, Reducer::kSum,
               {{2, w.in, v.in}, {2, w.kernel, v.kernel}},
               Call(Function::kMul, {Read(0, {IndexAffine(4), at(w, 0, 2), at(v, 1, 3)}, Number(0)),
                                     Read(1, {IndexAffine(4), IndexAffine(2), IndexAffine(3)})}));
    CheckParts(definition, 4, random);
  }
}

TEST_CASE("strided and dilated gradients need exactly what a term reads") {
  Random random(12);
  for (int trial = 0; trial < 4000; ++trial) {
    const Window w = RandomWindow(random);
    // dx[q] = sum(u, t where t*stride + u*dilation - low == q) dy[t] * f[u]
    Definition definition =
        Define({w.in, w.kernel, w.out}, 1, Reducer::kSum, {{w.out}, {w.kernel}},
               Call(Function::kMul, {Read(0, {IndexAffine(2)}), Read(1, {IndexAffine(1)})}));
    definition.where.push_back({IndexAffine(2) * w.stride + IndexAffine(1) * w.dilation -
                                    IndexAffine(0) - ConstantAffine(w.low),
                                true});
    CheckParts(definition, 5, random);
  }
}

TEST_CASE("triangles, slices and concatenations need what they read") {
  Random random(13);
  for (int trial = 0; trial < 500; ++trial) {
    const int64_t n = Between(2, 9, random), m = Between(1, 9, random), c = Between(-4, 4, random);
    // y[i] = sum(j where j <= i + c) x[j]
    Definition triangle = Define({n, m}, 1, Reducer::kSum, {{m}}, Read(0, {IndexAffine(1)}));
    triangle.where.push_back({IndexAffine(1) - IndexAffine(0) - ConstantAffine(c), false});
    CheckParts(triangle, 5, random);
    // y[i] = x[i*step + start]
    const int64_t step = random() % 2 == 0 ? Between(1, 3, random) : -Between(1, 3, random);
    const int64_t start = step > 0 ? 1 : -step * (n - 1);
    CheckParts(Define({n}, 1, Reducer::kNone, {{1 + std::abs(step) * n}},
                      Read(0, {IndexAffine(0) * step + ConstantAffine(start)})),
               5, random);
    // y[i] = if i < n then a[i] else b[i - n]
    const ExprPtr first = Call(Function::kLt, {IndexValue(IndexAffine(0)), Integer(n)});
    CheckParts(Define({n + m}, 1, Reducer::kNone, {{n}, {m}},
                      Call(Function::kSelect, {first, Read(0, {IndexAffine(0)}),
                                               Read(1, {IndexAffine(0) - ConstantAffine(n)})})),
               5, random);
  }
}

TEST_CASE("a reshape reads the rows that its elements lie in") {
  Random random(14);
  for (int trial = 0; trial < 300; ++trial) {
    const int64_t i = Between(1, 4, random), j = Between(1, 5, random);
    int64_t c = Between(1, i * j, random);
    while (i * j % c != 0) --c;
    // y[i, j] = pick(a, c where a*C + c == i*J + j) x[a, c]
    Definition view = Define({i, j, i * j / c, c}, 2, Reducer::kPick, {{i * j / c, c}},
                             Read(0, {IndexAffine(2), IndexAffine(3)}));
    view.where.push_back(
        {IndexAffine(2) * c + IndexAffine(3) - IndexAffine(0) * j - IndexAffine(1), true});
    CheckParts(view, 5, random);
  }
}

Affine RandomAffine(int indices, Random& random) {
  Affine affine = ConstantAffine(Between(-4, 4, random));
  for (int i = 0; i < indices; ++i) {
    if (random() % 2 == 0) affine = affine + IndexAffine(i) * Between(-3, 3, random);
  }
  return affine;
}

ExprPtr RandomCondition(int indices, int depth, Random& random) {
  if (depth > 0 && random() % 2 == 0) {
    const ExprPtr a = RandomCondition(indices, depth - 1, random);
    if (random() % 3 == 0) return Call(Function::kNot, {a});
    return Call(random() % 2 == 0 ? Function::kAnd : Function::kOr,
                {a, RandomCondition(indices, depth - 1, random)});
  }
  constexpr Function kComparisons[] = {Function::kEq, Function::kNe, Function::kLt, Function::kLe};
  const ExprPtr left = IndexValue(RandomAffine(indices, random));
  if (random() % 6 == 0) {  // data decides
    return Call(Function::kLt, {Read(0, {ConstantAffine(0)}), Number(0.5)});
  }
  return Call(kComparisons[random() % 4], {left, Integer(Between(-3, 3, random))});
}

TEST_CASE("whatever the constraints, guards and conditions, boxes are what is read") {
  Random random(15);
  for (int trial = 0; trial < 6000; ++trial) {
    const int outputs = Between(1, 2, random), indices = outputs + Between(0, 3, random);
    std::vector<int64_t> extents;
    for (int i = 0; i < indices; ++i) extents.push_back(Between(1, 6, random));
    const auto read = [&] {
      return Read(1, {RandomAffine(indices, random), RandomAffine(indices, random)}, Number(0));
    };
    const ExprPtr body =
        Call(Function::kSelect, {RandomCondition(indices, 2, random), read(),
                                 Read(2, {RandomAffine(indices, random)}, read())});
    Definition definition =
        Define(extents, outputs, indices > outputs ? Reducer::kSum : Reducer::kNone,
               {{1}, {5, 7}, {9}}, body);
    for (int i = 0; indices > outputs && i < Between(0, 2, random); ++i) {
      definition.where.push_back({RandomAffine(indices, random), random() % 2 == 0});
    }
    CheckParts(definition, 2, random);
  }
}

TEST_CASE("propagation ends on constraints that shrink ranges one by one") {
  const int64_t huge = int64_t{1} << 40;
  const std::vector<Constraint> chase = {
      {IndexAffine(0) - IndexAffine(1) + ConstantAffine(1), false},
      {IndexAffine(1) - IndexAffine(0) + ConstantAffine(1), false}};
  const PointSet points(chase, {{0, huge}, {0, huge}});
  CHECK(points.Hull(IndexAffine(0)).end <= huge);
}

TEST_CASE("a part of a reduction writes what its terms reach, the mirror of a halo") {
  // dx[q] = sum(t where t*2 - 1 <= q, q <= t*2 + 1) dy[t], as gradients of windows have it
  Definition window = Define({16, 8}, 1, Reducer::kSum, {{8}}, Read(0, {IndexAffine(1)}));
  window.where.push_back({IndexAffine(1) * 2 - ConstantAffine(1) - IndexAffine(0), false});
  window.where.push_back({IndexAffine(0) - IndexAffine(1) * 2 - ConstantAffine(1), false});
  CHECK(AnalyzeBoxes(window, {{0, 16}, {0, 8}}).writes == Box{{0, 16}});
  CHECK(AnalyzeBoxes(window, {{0, 16}, {2, 4}}).writes == Box{{3, 8}});
  CHECK(AnalyzeBoxes(window, {{4, 16}, {2, 4}}).writes == Box{{4, 8}});
  CHECK(IsEmpty(AnalyzeBoxes(window, {{10, 16}, {2, 4}}).writes));
}

TEST_CASE("large extents are solved without walking them") {
  const int64_t n = 1000000;
  const Definition strided =
      Define({n, 3}, 1, Reducer::kSum, {{n * 1000}},
             Read(0, {IndexAffine(0) * 1000 + IndexAffine(1) - ConstantAffine(5)}, Number(0)));
  CHECK(AnalyzeBoxes(strided, WholeRanges(strided)).reads[0] == Box{{995, n * 1000 - 1002}});
}

ExprPtr If(ExprPtr condition, ExprPtr a, ExprPtr b) {
  return Call(Function::kSelect, {std::move(condition), std::move(a), std::move(b)});
}

// A body whose terms are used several times: in sums, behind conditions on indices, as values
// outside.
ExprPtr RandomTerms(int terms, Random& random) {
  const Affine i = IndexAffine(0), j = IndexAffine(1);
  std::vector<ExprPtr> known = {Read(0, {i, j}), Read(1, {j}), Number(2)};
  for (int t = 0; t < terms; ++t) {
    const ExprPtr a = known[known.size() - 1 - random() % 3], b = known[random() % known.size()];
    const Affine index = random() % 2 == 0 ? i : j;
    switch (random() % 4) {
      case 0: known.push_back(Call(Function::kMul, {a, b})); break;
      case 1: known.push_back(Read(1, {i + j - ConstantAffine(Between(0, 6, random))}, a)); break;
      default:
        known.push_back(If(Call(Function::kLt, {IndexValue(index * (random() % 2 == 0 ? 1 : -1)),
                                                Integer(Between(-6, 6, random))}),
                           a, b));
    }
  }
  return known.back();
}

TEST_CASE("terms that are used several times are read where any of their uses is") {
  Random random(11);
  for (int n = 0; n < 300; ++n) {
    CheckParts(Define({7, 6}, 2, Reducer::kNone, {{7, 6}, {6}}, RandomTerms(7, random)), 6, random);
  }
}

TEST_CASE("bodies of 2^60 paths are looked at once for each term") {
  const Affine i = IndexAffine(0);
  ExprPtr squares = Read(0, {i}), branches = squares,
          condition = Call(Function::kLt, {IndexValue(i), Integer(3)}), index = IndexValue(i);
  for (int64_t n = 0; n < 60; ++n) {
    squares = Call(Function::kMul, {squares, squares});
    branches = If(Call(Function::kLt, {IndexValue(i), Integer(n % 12)}), branches,
                  Call(Function::kMul, {branches, Read(1, {i})}));
    condition = Call(n % 2 == 0 ? Function::kAnd : Function::kOr, {condition, condition});
    if (n < 20) index = Call(Function::kAdd, {index, index});
  }
  const auto map = [](ExprPtr body) {
    return Define({12}, 1, Reducer::kNone, {{12}, {12}}, std::move(body));
  };
  CHECK(AnalyzeBoxes(map(squares), {{3, 7}}).reads[0] == Box{{3, 7}});
  CHECK(AnalyzeBoxes(map(branches), {{3, 7}}).reads[0] == Box{{3, 7}});
  const Definition conditional = map(If(condition, squares, Read(1, {i})));
  CHECK(AnalyzeBoxes(conditional, {{1, 7}}).reads[0] == Box{{1, 3}});
  CHECK(AnalyzeBoxes(conditional, {{1, 7}}).reads[1] == Box{{3, 7}});
  CHECK(TruthAt(*condition, {2}) == Truth::kTrue);
  CHECK(AffineOf(*index) == i * (int64_t{1} << 20));
  for (int64_t n = 20; n < 100; ++n) index = Call(Function::kAdd, {index, index});
  CHECK_FALSE(AffineOf(*index).has_value());  // the numbers would overflow
}

TEST_CASE("argmax is not cut along its reduction") {
  const ExprPtr body = Read(0, {IndexAffine(0), IndexAffine(1)});
  CHECK(CuttableIndices(Define({4, 5}, 1, Reducer::kArgMax, {{4, 5}}, body)) ==
        std::vector<int>{0});
  CHECK(CuttableIndices(Define({4, 5}, 1, Reducer::kMax, {{4, 5}}, body)) ==
        std::vector<int>{0, 1});
  CHECK(CuttableIndices(Define({1, 5}, 1, Reducer::kMax, {{1, 5}}, body)) == std::vector<int>{1});
}

}  // namespace
}  // namespace yuba
