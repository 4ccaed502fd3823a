// Which post-ops libraries do in the calls of products: of oneDNN's row and of those of GPUs.
#include "compiler/kernels/has_chain.h"

#include <catch2/catch.hpp>

#include "compiler/kernels/library_call.h"
#include "compiler/kernels/targets.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::kernels {
namespace {

using Steps = std::vector<PostOp>;

const Affine n = IndexAffine(0), i = IndexAffine(1), j = IndexAffine(2), k = IndexAffine(3);

PostOp Step(PostOp::Kind kind, std::vector<int> indices = {}) {
  PostOp step;
  step.kind = kind;
  if (step.HasOperand()) step.operand = 2;
  step.indices = std::move(indices);
  return step;
}
PostOp Add(std::vector<int> indices) { return Step(PostOp::kAdd, std::move(indices)); }
const PostOp kRelu = Step(PostOp::kRelu), kGelu = Step(PostOp::kGeluTanh),
             kErf = Step(PostOp::kGeluErf), kScale = Step(PostOp::kScale);

bool Has(const char* target, const Definition& product, const Steps& steps) {
  const absl::optional<program::LibraryCall> call = LibraryCallFor(product, {true, true});
  REQUIRE(call.has_value());
  return HasChain(FindTarget(target)->post_ops, *call, product.indices, steps);
}

// y[n, i, j] = sum(k) x[n, i, k] * w[k, j]: rows {n, i}, columns {j}, along which y is contiguous.
const Definition kProduct = Define({4, 6, 8, 5}, 3, Reducer::kSum, {{4, 6, 5}, {5, 8}},
                                   Call(Function::kMul, {Read(0, {n, i, k}), Read(1, {k, j})}));
// y[n, i, j] = sum(k) x[n, k, j] * w[i, k]: a convolution with windows of one tap, channels i.
const Definition kPointwise = Define({4, 6, 8, 5}, 3, Reducer::kSum, {{4, 5, 8}, {6, 5}},
                                     Call(Function::kMul, {Read(0, {n, k, j}), Read(1, {i, k})}));
const std::vector<int> kResidual = {0, 1, 2}, kLast = {2}, kMiddle = {1};

TEST_CASE("cuBLASLt's epilogue: a scale, a residual and a bias in any order, then a function") {
  const auto has = [](const Steps& steps) { return Has("cuda", kProduct, steps); };
  CHECK(has({kScale, Add(kResidual), Add(kLast), kRelu}));
  CHECK(has({kScale, Add(kLast), Add(kResidual), kGelu}));
  CHECK(has({Step(PostOp::kSubtract, kResidual), Add(kLast)}));
  // Each beginning of a chain is one.
  CHECK(has({kScale}));
  CHECK(has({Add(kLast)}));
  CHECK(has({Add(kResidual)}));
  CHECK(has({kRelu}));
  // What it has no place for, or only one.
  CHECK_FALSE(has({kErf}));
  CHECK_FALSE(has({kRelu, Add(kLast)}));
  CHECK_FALSE(has({Add(kLast), kScale}));
  CHECK_FALSE(has({kRelu, kGelu}));
  CHECK_FALSE(has({Add(kLast), Add(kLast)}));
  CHECK_FALSE(has({Add(kResidual), Add(kResidual)}));
  CHECK_FALSE(has({Step(PostOp::kMultiply, kLast)}));
  CHECK_FALSE(has({Step(PostOp::kSubtract, kLast)}));
  // A slope stands alone, and runs along all of the result.
  CHECK(has({Step(PostOp::kGeluTanhSlope, kResidual)}));
  CHECK_FALSE(has({kScale, Step(PostOp::kGeluTanhSlope, kResidual)}));
  CHECK_FALSE(has({Step(PostOp::kGeluTanhSlope, kLast)}));
  CHECK_FALSE(has({Add(kLast), Step(PostOp::kGeluTanhSlope, kResidual)}));
  CHECK_FALSE(has({Step(PostOp::kGeluTanhSlope, kResidual), kRelu}));
  // Along what it has nothing for: rows, rows and columns, nothing, the result in another order.
  CHECK_FALSE(has({Add(kMiddle)}));
  CHECK_FALSE(has({Add({0, 2})}));
  CHECK_FALSE(has({Add({-1})}));
  CHECK_FALSE(has({Add({2, 1, 0})}));
}

TEST_CASE("cuDNN's pattern: a residual and a bias in any order, then ReLU") {
  const auto has = [](const Steps& steps) { return Has("cuda", kPointwise, steps); };
  CHECK(has({Add(kResidual), Add(kMiddle), kRelu}));
  CHECK(has({Add(kMiddle), Add(kResidual), kRelu}));
  CHECK(has({Add(kMiddle)}));
  CHECK_FALSE(has({Add(kMiddle), kGelu}));
  CHECK_FALSE(has({Add(kMiddle), kScale}));
  CHECK_FALSE(has({kScale, Add(kMiddle)}));
  CHECK_FALSE(has({Step(PostOp::kSubtract, kResidual), Add(kMiddle)}));
  // Without a bias along channels it is a product of matrices as any other.
  CHECK(has({kScale, Add(kResidual), kGelu}));
  CHECK(has({Add(kLast), kGelu}));
}

TEST_CASE("convolutions with windows go to cuDNN alone") {
  // y[n, i, j] = sum(k, u) x[n, k, j + u] * w[i, k, u]
  const Affine u = IndexAffine(4);
  const Definition convolution =
      Define({4, 6, 8, 5, 3}, 3, Reducer::kSum, {{4, 5, 10}, {6, 5, 3}},
             Call(Function::kMul, {Read(0, {n, k, j + u}), Read(1, {i, k, u})}));
  const auto has = [&](const Steps& steps) { return Has("cuda", convolution, steps); };
  CHECK(has({Add(kMiddle), Add(kResidual), kRelu}));
  CHECK(has({kRelu}));
  CHECK(has({Add(kResidual), kRelu}));
  CHECK_FALSE(has({kScale}));
  CHECK_FALSE(has({Add(kLast)}));
  CHECK_FALSE(has({Add(kMiddle), kGelu}));
  CHECK(Has("host", convolution, {Add(kMiddle), kGelu, kScale, Add(kLast)}));
}

TEST_CASE("a sum along indices that are apart may be several calls, which have no epilogue") {
  // y[i, j] = sum(k, l) x[i, k, l] * w[l, k, j]
  const Affine a = IndexAffine(0), b = IndexAffine(1), c = IndexAffine(2), d = IndexAffine(3);
  const Definition product = Define({6, 8, 5, 7}, 2, Reducer::kSum, {{6, 5, 7}, {7, 5, 8}},
                                    Call(Function::kMul, {Read(0, {a, c, d}), Read(1, {d, c, b})}));
  CHECK_FALSE(Has("cuda", product, {kRelu}));
  CHECK(Has("host", product, {kRelu}));
  // y[i, j] = sum(k, l) x[i, k, l] * w[k, l, j], as attention's last product
  const Definition together =
      Define({6, 8, 5, 7}, 2, Reducer::kSum, {{6, 5, 7}, {5, 7, 8}},
             Call(Function::kMul, {Read(0, {a, c, d}), Read(1, {c, d, b})}));
  CHECK(Has("cuda", together, {kRelu}));
}

TEST_CASE("a bias of a batch of products may have the batch's index") {
  // y[n, i, j] = sum(k) x[n, i, k] * w[n, k, j]
  const Definition product = Define({4, 6, 8, 5}, 3, Reducer::kSum, {{4, 6, 5}, {4, 5, 8}},
                                    Call(Function::kMul, {Read(0, {n, i, k}), Read(1, {n, k, j})}));
  CHECK(Has("cuda", product, {Add({0, 2}), kRelu}));
  CHECK(Has("cuda", product, {Add({2}), kRelu}));
  CHECK_FALSE(Has("cuda", product, {Add({0, 1}), kRelu}));
}

TEST_CASE("oneDNN does any steps in any order, but GELU by erf") {
  CHECK(Has("host", kProduct, {kRelu, Step(PostOp::kMultiply, kMiddle), kGelu, Add({})}));
  CHECK_FALSE(Has("host", kProduct, {kErf}));
}

}  // namespace
}  // namespace yuba::kernels
