// Bodies whose trees have 2^60 nodes and more: whatever looks at one takes the time of its distinct
// terms, and sees the same body however its terms are shared. What is not so hangs.
#include "opsemantics/definition/shared_terms.h"

#include "catch2/catch.hpp"
#include "opsemantics/definition/graph.h"
#include "opsemantics/definition/linear.h"
#include "opsemantics/definition/refine.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

const Affine i = IndexAffine(0);

// `times` times t * t, or another function of the two, from `leaf`.
ExprPtr Repeated(Function function, ExprPtr leaf, int times) {
  for (int n = 0; n < times; ++n) leaf = Call(function, {leaf, leaf});
  return leaf;
}

// The same with no node shared.
ExprPtr Tree(Function function, int depth) {
  if (depth == 0) return Read(0, {i});
  return Call(function, {Tree(function, depth - 1), Tree(function, depth - 1)});
}

Definition MapOf(ExprPtr body) {
  return Define({12}, 1, Reducer::kNone, {{12}, {12}}, std::move(body));
}

TEST_CASE("equal terms become one node, others stay apart") {
  SharedTerms terms;
  const ExprPtr sum = Call(Function::kAdd, {Read(0, {i}), Read(1, {i})});
  const ExprPtr same = Call(Function::kAdd, {Read(0, {i}), Read(1, {i})});
  CHECK(terms.Of(sum) == terms.Of(same));
  CHECK(terms.size() == 3);
  for (const ExprPtr& other :
       {Call(Function::kSub, {Read(0, {i}), Read(1, {i})}),
        Call(Function::kAdd, {Read(1, {i}), Read(0, {i})}),
        Call(Function::kAdd, {Read(0, {i + ConstantAffine(1)}, Number(0)), Read(1, {i})})}) {
    CHECK(terms.Of(other) != terms.Of(sum));
    CHECK_FALSE(SameExpr(other, sum));
  }
  CHECK_FALSE(SameExpr(Number(0.0), Number(-0.0)));
  CHECK_FALSE(SameExpr(Number(1.0), Integer(1)));
  CHECK_FALSE(SameExpr(Cast(sum, ElementType::kF16), Cast(sum, ElementType::kBF16)));
  CHECK(SameExpr(Cast(sum, ElementType::kF16), Cast(same, ElementType::kF16)));
}

TEST_CASE("a body of 61 terms is small, whatever the tree of it would be") {
  const ExprPtr chain = Repeated(Function::kMul, Read(0, {i}), 60);
  CHECK(DistinctTerms(chain) == 61);
  CHECK(TreeSize(chain) == (int64_t{1} << 61) - 1);
  CHECK(TreeSize(Repeated(Function::kMul, Read(0, {i}), 100)) == int64_t{1} << 62);
  CHECK(RepeatedTerms({chain}).size() == 59);
  const std::vector<Occurrence> occurrences = Occurrences(chain);
  CHECK(occurrences.size() == 61);
  CHECK(occurrences.back().times == int64_t{1} << 60);
  CHECK(DistinctTerms(Tree(Function::kMul, 8)) == 9);
}

TEST_CASE("definitions are equal, and read the same, however their terms are shared") {
  const Definition tree = MapOf(Tree(Function::kMul, 8));
  const Definition chain = MapOf(Repeated(Function::kMul, Read(0, {i}), 8));
  CHECK(tree == chain);
  CHECK(ToString(tree) == ToString(chain));
  Definition shared = tree;
  ShareTerms(shared);
  CHECK(shared == tree);
  CHECK(TreeSize(shared.body) == TreeSize(tree.body));
  CHECK_FALSE(tree == MapOf(Repeated(Function::kMul, Read(0, {i}), 9)));
  CHECK_FALSE(tree == MapOf(Repeated(Function::kMul, Read(1, {i}), 8)));

  const auto large = [](int operand) {
    return MapOf(Repeated(Function::kMul, Read(operand, {i}), 60));
  };
  CHECK(large(0) == large(0));
  CHECK_FALSE(large(0) == large(1));
}

TEST_CASE("small bodies print as trees, terms of large ones get names") {
  const ExprPtr sum = Call(Function::kAdd, {Read(0, {i}), Read(1, {i})});
  CHECK(ToString(MapOf(Call(Function::kMul, {sum, sum}))) ==
        "y[i: 12] = (x0[i] + x1[i]) * (x0[i] + x1[i])");
  CHECK(ToString(MapOf(Repeated(Function::kMul, sum, 6))) ==
        "y[i: 12] = let t0 = x0[i] + x1[i], t1 = t0 * t0, t2 = t1 * t1, t3 = t2 * t2, "
        "t4 = t3 * t3, t5 = t4 * t4 in t5 * t5");
  Definition reduction = MapOf(Repeated(Function::kMul, sum, 6));
  reduction.indices.push_back({"k", 5, true});
  reduction.reducer = Reducer::kSum;
  reduction.data_where = {{i, Function::kEq, false, Repeated(Function::kAdd, Read(1, {i}), 7)}};
  const std::string text = ToString(reduction);
  CHECK(text.find("sum(k: 5 where i == (let t0 = x1[i] + x1[i], ") != std::string::npos);
  CHECK(text.find(") let t6 = x0[i] + x1[i], t7 = t6 * t6, ") != std::string::npos);
  CHECK(ToString(MapOf(Repeated(Function::kMul, Read(0, {i}), 60))).size() < 2000);
}

TEST_CASE("what is known of a large body takes no longer than its terms") {
  const Definition chain = MapOf(Repeated(Function::kMul, Read(0, {i}), 60));
  CHECK(MayOverwrite(chain, 0));
  CHECK_FALSE(IsIdentity(chain));
  CHECK_FALSE(IsLinearIn(chain, {0}));
  CHECK(IsLinearIn(MapOf(Repeated(Function::kAdd, Read(0, {i}), 60)), {0}));
  const ExprPtr integers = Repeated(Function::kAdd, IndexValue(i), 60);
  CHECK(TypeOf(*integers, {}) == ElementType::kI64);
  CHECK_FALSE(NumbersGroups(chain));
  const Definition refined = Refine(chain, {{{{3, 4}}, {{3, 4}}}, {{3, 4}}});
  CHECK(DistinctTerms(refined.body) == 61);
  CHECK(refined.indices.size() == 2);
}

TEST_CASE("a sum of partials adds each of them once") {
  Definition sum = MapOf(Call(Function::kAdd, {Read(0, {i}), Read(1, {i})}));
  sum.reducer = Reducer::kSum;
  sum.indices.push_back({"group", kMostGroups, true});
  sum.partial_operands = {0, 1};
  CHECK(CombinesPartials(sum));
  const ExprPtr first = Read(0, {i});
  sum.body = Call(Function::kAdd, {Call(Function::kAdd, {first, first}), Read(1, {i})});
  CHECK_FALSE(CombinesPartials(sum));
}

}  // namespace
}  // namespace yuba
