// Convolutions and their gradients are recognised in either spelling of their windows, whatever the
// order of factors and dimensions; what only resembles them is none.
#include "opsemantics/regions/convolution.h"

#include "catch2/catch.hpp"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

using Ints = std::vector<int>;
constexpr auto kFirst = ProductTensor::kFirst, kSecond = ProductTensor::kSecond,
               kResult = ProductTensor::kResult;
const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3),
             m = IndexAffine(4), n = IndexAffine(5), o = IndexAffine(6);

Affine C(int64_t constant) { return ConstantAffine(constant); }
ExprPtr Product(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {a, b}); }

Definition Where(Definition definition, std::vector<Affine> equalities) {
  for (Affine& equality : equalities) definition.where.push_back({std::move(equality), true});
  return definition;
}

// Which tensors are input, filter and output.
struct Tensors {
  ProductTensor input, filter, output;
  friend bool operator==(const Tensors& a, const Tensors& b) {
    return a.input == b.input && a.filter == b.filter && a.output == b.output;
  }
};
Tensors TensorsOf(const Convolution& convolution) {
  return {convolution.input, convolution.filter, convolution.output};
}

void CheckWindow(const Window& window, Ints indices, Ints dims, std::vector<int64_t> numbers) {
  CHECK(Ints{window.output, window.kernel, window.input} == indices);
  CHECK(Ints{window.output_dim, window.filter_dim, window.input_dim} == dims);
  CHECK(std::vector<int64_t>{window.stride, window.dilation, window.low} == numbers);
}

// y[n, a, o, p] = sum(c, u) (x[n, a, c, p*2 + u*3 - 1] else 0) * f[a, o, c, u]
Definition GroupedConvolution(bool swapped, double outside) {
  const ExprPtr x = Read(0, {i, j, m, l * 2 + n * 3 - C(1)}, Number(outside));
  const ExprPtr f = Read(1, {j, k, m, n});
  return Define({2, 3, 4, 5, 6, 2}, 4, Reducer::kSum, {{2, 3, 6, 9}, {3, 4, 6, 2}},
                swapped ? Product(f, x) : Product(x, f));
}

TEST_CASE("a convolution has windows, groups and channels") {
  for (bool swapped : {false, true}) {
    const auto convolution = MatchConvolution(GroupedConvolution(swapped, 0));
    REQUIRE(convolution.has_value());
    const ProductTensor x = swapped ? kSecond : kFirst, f = swapped ? kFirst : kSecond;
    CHECK(TensorsOf(*convolution) == Tensors{x, f, kResult});
    CHECK(OperandOf(GroupedConvolution(swapped, 0), x) == 0);
    CHECK(OperandOf(GroupedConvolution(swapped, 0), f) == 1);
    CHECK(OperandOf(GroupedConvolution(swapped, 0), kResult) == -1);
    CHECK(convolution->images == Ints{0});
    CHECK(convolution->groups == Ints{1});
    CHECK(convolution->outputs == Ints{2});
    CHECK(convolution->inputs == Ints{4});
    REQUIRE(convolution->windows.size() == 1);
    CheckWindow(convolution->windows[0], {3, 5, -1}, {3, 3, 3}, {2, 3, 1});
  }
  CHECK_FALSE(MatchConvolution(GroupedConvolution(false, 1)).has_value());
}

// y[n, o, p] = sum(c, u, q where p*2 + u*3 - 1 == q) x[n, c, q] * f[o, c, u]
TEST_CASE("a convolution's window may be a constraint") {
  const Definition constrained =
      Where(Define({2, 4, 5, 6, 2, 9}, 3, Reducer::kSum, {{2, 6, 9}, {4, 6, 2}},
                   Product(Read(0, {i, l, n}), Read(1, {j, l, m}))),
            {n - k * 2 - m * 3 + C(1)});
  const auto convolution = MatchConvolution(constrained);
  REQUIRE(convolution.has_value());
  CHECK(TensorsOf(*convolution) == Tensors{kFirst, kSecond, kResult});
  CheckWindow(convolution->windows[0], {2, 4, 5}, {2, 2, 2}, {2, 3, 1});
}

// dx[n, a, c, q] = sum(o, p, u where p*2 + u*3 - 1 == q) dy[n, a, o, p] * f[a, o, c, u]
TEST_CASE("the data gradient of a convolution, and with it a transposed convolution") {
  for (int64_t sign : {1, -1}) {
    const Definition gradient =
        Where(Define({2, 3, 6, 9, 4, 5, 2}, 4, Reducer::kSum, {{2, 3, 4, 5}, {3, 4, 6, 2}},
                     Product(Read(1, {j, m, k, o}), Read(0, {i, j, m, n}))),
              {(n * 2 + o * 3 - C(1) - l) * sign});
    const auto convolution = MatchConvolution(gradient);
    REQUIRE(convolution.has_value());
    CHECK(TensorsOf(*convolution) == Tensors{kResult, kFirst, kSecond});
    CHECK(convolution->images == Ints{0});
    CHECK(convolution->groups == Ints{1});
    CHECK(convolution->outputs == Ints{4});
    CHECK(convolution->inputs == Ints{2});
    CheckWindow(convolution->windows[0], {5, 6, 3}, {3, 3, 3}, {2, 3, 1});
  }
}

// dx[n, c, q] = sum(o, u) (dy[n, o, q - u*3 + 1] else 0) * f[o, c, u]
TEST_CASE("a data gradient's window may be the position of a read") {
  const Definition gradient =
      Define({2, 6, 9, 4, 2}, 3, Reducer::kSum, {{2, 4, 5}, {4, 6, 2}},
             Product(Read(0, {i, l, k - m * 3 + C(1)}, Number(0)), Read(1, {l, j, m})));
  const auto convolution = MatchConvolution(gradient);
  REQUIRE(convolution.has_value());
  CHECK(TensorsOf(*convolution) == Tensors{kResult, kSecond, kFirst});
  CheckWindow(convolution->windows[0], {-1, 4, 2}, {2, 2, 2}, {1, 3, 1});
}

// df[a, o, c, u] = sum(n, p) dy[n, a, o, p] * (x[n, a, c, p*2 + u*3 - 1] else 0)
Definition WeightGradient(int64_t images, int64_t taps, int64_t outputs) {
  return Define(
      {3, 4, 6, taps, images, outputs}, 4, Reducer::kSum,
      {{images, 3, 4, outputs}, {images, 3, 6, 9}},
      Product(Read(0, {m, i, j, n}), Read(1, {m, i, k, n * 2 + l * 3 - C(1)}, Number(0))));
}

TEST_CASE("the weight gradient of a convolution") {
  // Images stand outside of channels, so more taps than outputs are no filter's.
  for (int64_t taps : {2, 30}) {
    const auto convolution = MatchConvolution(WeightGradient(2, taps, 5));
    REQUIRE(convolution.has_value());
    CHECK(TensorsOf(*convolution) == Tensors{kSecond, kResult, kFirst});
    CHECK(convolution->images == Ints{4});
    CHECK(convolution->groups == Ints{0});
    CHECK(convolution->outputs == Ints{1});
    CHECK(convolution->inputs == Ints{2});
    CheckWindow(convolution->windows[0], {5, 3, -1}, {3, 3, 3}, {2, 3, 1});
  }
}

TEST_CASE("without images or channels the filter is what channels or sizes say") {
  // One image: df[o, c, u] = sum(p) dy[0, o, p] * x[0, c, p*2 + u], u: 7, p: 2
  const auto one_image =
      MatchConvolution(Define({4, 6, 7, 2}, 3, Reducer::kSum, {{1, 4, 2}, {1, 6, 9}},
                              Product(Read(0, {C(0), i, l}), Read(1, {C(0), j, l * 2 + k}))));
  REQUIRE(one_image.has_value());
  CHECK(TensorsOf(*one_image) == Tensors{kSecond, kResult, kFirst});
  // Signals alone: y[p] = sum(u) x[p + u] * f[u]
  for (int64_t taps : {3, 6}) {
    const auto signal = MatchConvolution(Define({9 - taps, taps}, 1, Reducer::kSum, {{8}, {taps}},
                                                Product(Read(0, {i + j}), Read(1, {j}))));
    REQUIRE(signal.has_value());
    CHECK((signal->filter == kResult) == (taps == 6));
  }
}

TEST_CASE("a window may have one tap, one output or an input of one position") {
  // dx[n, c, q] = sum(o, p where p*2 - 1 == q) dy[n, o, p] * f[o, c, 0]
  const auto tap =
      MatchConvolution(Where(Define({2, 6, 9, 4, 5}, 3, Reducer::kSum, {{2, 4, 5}, {4, 6, 1}},
                                    Product(Read(0, {i, l, m}), Read(1, {l, j, C(0)}))),
                             {m * 2 - C(1) - k}));
  REQUIRE(tap.has_value());
  CHECK(TensorsOf(*tap) == Tensors{kResult, kSecond, kFirst});
  CheckWindow(tap->windows[0], {4, -1, 2}, {2, -1, 2}, {2, 1, 1});
  // y[n, o, p] = sum(c) (x[n, c, p - 1] else 0) * f[o, c], and as long as x without `- 1`
  const Affine behind = k - C(1);
  for (const Affine& position : {behind, k}) {
    const auto shift =
        MatchConvolution(Define({2, 4, 8, 6}, 3, Reducer::kSum, {{2, 6, 7}, {4, 6}},
                                Product(Read(0, {i, l, position}, Number(0)), Read(1, {j, l}))));
    REQUIRE(shift.has_value());
    CHECK(TensorsOf(*shift) == Tensors{kFirst, kSecond, kResult});
    CheckWindow(shift->windows[0], {2, -1, -1}, {2, -1, 2}, {1, 1, position == k ? 0 : 1});
  }
  // dx[n, c, 0] = sum(o, p, u where p*2 + u == 1) dy[n, o, p] * f[o, c, u]
  Definition point = Where(Define({2, 6, 4, 5, 3}, 2, Reducer::kSum, {{2, 4, 5}, {4, 6, 3}},
                                  Product(Read(0, {i, k, l}), Read(1, {k, j, m}))),
                           {l * 2 + m - C(1)});
  point.left.push_back(Affine());
  point.result.dims.push_back(1);
  const auto input = MatchConvolution(point);
  REQUIRE(input.has_value());
  CHECK(TensorsOf(*input) == Tensors{kResult, kSecond, kFirst});
  CheckWindow(input->windows[0], {3, 4, -1}, {2, 2, -1}, {2, 1, 1});
}

// y[n, o, p] = sum(c, u) (x[n, c, p - u] else 0) * f[o, c, u]: p is q of a data gradient
TEST_CASE("a mirrored filter is a data gradient") {
  const auto mirrored =
      MatchConvolution(Define({2, 4, 9, 6, 3}, 3, Reducer::kSum, {{2, 6, 7}, {4, 6, 3}},
                              Product(Read(0, {i, l, k - m}, Number(0)), Read(1, {j, l, m}))));
  REQUIRE(mirrored.has_value());
  CHECK(TensorsOf(*mirrored) == Tensors{kResult, kSecond, kFirst});
}

TEST_CASE("what only resembles a convolution is none") {
  const auto is_one = [](const Definition& definition) {
    return MatchConvolution(definition).has_value();
  };
  const Definition gradient =
      Where(Define({9, 5, 3}, 1, Reducer::kSum, {{5}, {3}}, Product(Read(0, {j}), Read(1, {k}))),
            {j * 2 + k - i});
  CHECK(is_one(gradient));
  const auto with = [&](const Affine& expression, bool equality) {
    Definition other = gradient;
    other.where = {{expression, equality}};
    return other;
  };
  CHECK_FALSE(is_one(with(j * 2 + k - i, false)));
  CHECK_FALSE(is_one(with(j * 2 + k * 2 - i * 2, true)));
  CHECK_FALSE(is_one(with(j + k + i - C(9), true)));
  CHECK_FALSE(is_one(with(j * 2 - i * 3, true)));
  CHECK_FALSE(is_one(with(j - C(2), true)));
  CHECK_FALSE(is_one(Where(gradient, {j - k})));
  Definition other = gradient;
  other.reducer = Reducer::kMax;
  CHECK_FALSE(is_one(other));
  other = gradient;
  other.where.clear();
  CHECK_FALSE(is_one(other));
  // sum(u) x[p + u, u] * f[u], and sum(u) x[p + u] * f[p, u]
  CHECK_FALSE(is_one(
      Define({3, 2}, 1, Reducer::kSum, {{4, 2}, {2}}, Product(Read(0, {i + j, j}), Read(1, {j})))));
  CHECK_FALSE(is_one(
      Define({3, 2}, 1, Reducer::kSum, {{4}, {3, 2}}, Product(Read(0, {i + j}), Read(1, {i, j})))));
  // Channels that are in one tensor alone: sum(u, c) x[p + u, c] * f[u]
  CHECK_FALSE(is_one(Define({3, 2, 4}, 1, Reducer::kSum, {{4, 4}, {2}},
                            Product(Read(0, {i + j, k}), Read(1, {j})))));
}

}  // namespace
}  // namespace yuba
