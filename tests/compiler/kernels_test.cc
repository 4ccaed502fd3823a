#include "compiler/kernels/kernels.h"

#include "catch2/catch.hpp"
#include "opsemantics/boxes.h"
#include "tests/compiler/kernel_runner.h"
#include "tests/opsemantics/definitions.h"

namespace yuba {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2);
const Affine one = ConstantAffine(1);

ExprPtr Mul(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {std::move(a), std::move(b)}); }
ExprPtr Add(ExprPtr a, ExprPtr b) { return Call(Function::kAdd, {std::move(a), std::move(b)}); }

void Check(const std::vector<Definition>& definitions, int parts = 20) {
  CHECK(CheckKernels(definitions, Arithmetic::kFloat, parts) == "");
  CHECK(CheckKernels(definitions, Arithmetic::kHash, parts) == "");
}

TEST_CASE("matrix products and maps") {
  Check({
      Define({5, 9, 7}, 2, Reducer::kSum, {{5, 7}, {7, 9}}, Mul(Read(0, {i, k}), Read(1, {k, j}))),
      Define({5, 9, 7}, 2, Reducer::kSum, {{5, 7}, {9, 7}}, Mul(Read(0, {i, k}), Read(1, {j, k}))),
      Define({5, 9, 7}, 2, Reducer::kSum, {{7, 5}, {7, 9}}, Mul(Read(0, {k, i}), Read(1, {k, j}))),
      Define({5, 9}, 2, Reducer::kNone, {{5, 9}, {9}}, Add(Read(0, {i, j}), Read(1, {j}))),
      Define({5, 9}, 2, Reducer::kNone, {{9, 5}}, Read(0, {j, i})),
  });
}

}  // namespace
}  // namespace yuba
