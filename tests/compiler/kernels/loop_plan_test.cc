// The plans of loops that speed rests on.
#include "compiler/kernels/loop_plan.h"

#include "catch2/catch.hpp"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

std::string Plan(const Definition& definition, bool parallel = false) {
  LoopOptions options;
  options.parallel_outputs = parallel;
  return ToString(PlanLoops(definition, options), definition);
}

ExprPtr Mul(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {std::move(a), std::move(b)}); }

Definition Product(std::vector<Affine> left, std::vector<Affine> right) {
  return Define({64, 64, 64}, 2, Reducer::kSum, {{64, 64}, {64, 64}},
                Mul(Read(0, std::move(left)), Read(1, std::move(right))));
}

TEST_CASE("the innermost loop runs along memory") {
  CHECK(Plan(Product({i, k}, {k, j})) == "row: i (by 4) | k j; 0 bounds");
  CHECK(Plan(Product({k, i}, {k, j})) == "row: i (by 4) | k j; 0 bounds");
  CHECK(Plan(Product({i, k}, {j, k})) == "register: i j | k; 0 bounds");
  CHECK(Plan(Product({i, k}, {k, j}), true) == "register: i j | k; 0 bounds");
  CHECK(Plan(Define({64, 9}, 1, Reducer::kSum, {{9, 64}}, Read(0, {j, i}))) ==
        "row: | j i; 0 bounds");
}

TEST_CASE("padding bounds the loops") {
  // y[i] = sum(j) (x[i + j - 1] else 0) * f[j]
  const Definition conv =
      Define({64, 3}, 1, Reducer::kSum, {{64}, {3}},
             Mul(Read(0, {i + j - ConstantAffine(1)}, Number(0)), Read(1, {j})));
  CHECK(Plan(conv) == "row: | j i; 2 bounds");
}

// dx[i] = sum(j, k where j + stride*k == i) f[j] * dy[k]
Definition Gradient(int64_t stride) {
  Definition definition = Define({64, 3, 64 / stride}, 1, Reducer::kSum, {{3}, {64 / stride}},
                                 Mul(Read(0, {j}), Read(1, {k})));
  definition.where.push_back({j + k * stride - i, true});
  return definition;
}

TEST_CASE("gradients run along what they read") {
  CHECK(Plan(Gradient(1)) == "row: | j i; 2 bounds, k solved");
  CHECK(Plan(Gradient(2)) == "scatter: | j k; 2 bounds, i solved");
  CHECK(Plan(Gradient(2), true) == "register: i | k; 2 bounds, j solved");
}

TEST_CASE("reshapes copy rows") {
  // y[i, j] = pick(k, l where 16k + l == 20i + j) x[k, l]
  Definition view = Define({16, 20, 20, 16}, 2, Reducer::kPick, {{20, 16}}, Read(0, {k, l}));
  view.where.push_back({k * 16 + l - i * 20 - j, true});
  CHECK(Plan(view) == "row: i | k j; 2 bounds, l solved");
}

TEST_CASE("indices that data decides are looked up, not searched for") {
  Definition gather = Define({8, 64, 100}, 2, Reducer::kPick, {{100, 64}, {8}}, Read(0, {k, j}));
  gather.operands[1].type = ElementType::kI64;
  gather.data_where.push_back({k, Function::kEq, false, Read(1, {i})});
  CHECK(Plan(gather) == "row: i | k= j; 0 bounds");
  CHECK(Plan(gather, true) == "register: i j | k=; 0 bounds");
  Definition scatter = Define({100, 64, 8}, 2, Reducer::kSum, {{8, 64}, {8}}, Read(0, {k, j}));
  scatter.operands[1].type = ElementType::kI64;
  scatter.data_where.push_back({i, Function::kEq, false, Read(1, {k})});
  CHECK(Plan(scatter) == "scatter: | k i= j; 0 bounds");
  CHECK(Plan(scatter, true) == "scatter: j | k i=; 0 bounds");
}

}  // namespace
}  // namespace yuba::kernels
