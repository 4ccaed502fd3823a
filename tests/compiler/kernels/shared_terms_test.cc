// Kernels compute a term that is used more than once once, where all of its uses have it, and read
// nothing at points at which a condition on indices keeps it from being read.
#include "opsemantics/definition/shared_terms.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "catch2/catch.hpp"
#include "compiler/kernels/kernels.h"
#include "compiler/kernels/placement.h"
#include "tests/compiler/kernels/kernel_runner.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba::kernels {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1);

ExprPtr Mul(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {std::move(a), std::move(b)}); }
ExprPtr Add(ExprPtr a, ExprPtr b) { return Call(Function::kAdd, {std::move(a), std::move(b)}); }
ExprPtr Exp(ExprPtr a) { return Call(Function::kExp, {std::move(a)}); }
const char* const kExp = "call @expf(";  // in the loops

ExprPtr Less(const Affine& a, int64_t b) {
  return Call(Function::kLt, {IndexValue(a), Integer(b)});
}
ExprPtr If(ExprPtr condition, ExprPtr a, ExprPtr b) {
  return Call(Function::kSelect, {std::move(condition), std::move(a), std::move(b)});
}

Definition MapOf(ExprPtr body) {
  return Define({12}, 1, Reducer::kNone, {{12}, {12}}, std::move(body));
}

// How often `word` stands in the loops that are generated for the definition.
int CountInLoops(const Definition& definition, const std::string& word) {
  KernelTarget target;
  target.dump_dir = std::string(std::getenv("TEST_TMPDIR")) + "/loops";
  REQUIRE(std::system(("mkdir -p " + target.dump_dir).c_str()) == 0);
  REQUIRE(GenerateKernels({Alone("k", definition)}, target).ok());
  std::ifstream file(target.dump_dir + "/k.mlir");
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE(!text.str().empty());
  int count = 0;
  for (size_t at = text.str().find(word); at != std::string::npos;
       at = text.str().find(word, at + 1)) {
    ++count;
  }
  return count;
}

void CheckAll(const Definition& definition) {
  INFO(ToString(definition));
  CHECK(CheckKernels({definition}, Arithmetic::kFloat, 12) == "");
  CHECK(CheckKernels({definition}, Arithmetic::kHash, 12) == "");
}

// exp(x0[i]) in nodes of its own each time.
ExprPtr Term() { return Exp(Read(0, {i})); }

TEST_CASE("a term that is used twice is computed once") {
  const Definition sum = MapOf(Add(Mul(Term(), Term()), Term()));
  CHECK(CountInLoops(sum, kExp) == 1);
  CheckAll(sum);
}

TEST_CASE("both sides of a branch need it: once, before the branch") {
  const Definition sides =
      MapOf(If(Less(i, 5), Mul(Term(), Read(1, {i})), Add(Term(), Read(1, {i}))));
  CHECK(CountInLoops(sides, kExp) == 1);
  CHECK(CountInLoops(sides, "scf.if") == 1);
  CheckAll(sides);
  // Also through the branches inside of both sides.
  const auto inner = [](int64_t at) {
    return If(Less(i, at), Term(), Mul(Term(), Number(static_cast<double>(at))));
  };
  const Definition nested = MapOf(If(Less(i, 5), inner(3), inner(8)));
  CHECK(CountInLoops(nested, kExp) == 1);
  CHECK(CountInLoops(nested, "scf.if") == 3);
  CheckAll(nested);
}

TEST_CASE("one side and what comes after need it: once, before the branch") {
  const Definition after = MapOf(Mul(If(Less(i, 5), Term(), Read(1, {i})), Term()));
  CHECK(CountInLoops(after, kExp) == 1);
  CheckAll(after);
}

TEST_CASE("sides of two branches need it: once, where one of the two conditions holds") {
  const Definition two =
      MapOf(Mul(If(Less(i, 5), Term(), Read(1, {i})), If(Less(i * -1, -8), Term(), Read(1, {i}))));
  CHECK(CountInLoops(two, kExp) == 1);
  CHECK(CountInLoops(two, "scf.if") == 3);
  CheckAll(two);
}

TEST_CASE("what reads nothing is computed before the branches without a condition") {
  const ExprPtr index = Exp(Cast(IndexValue(i), ElementType::kF32));
  const Definition two = MapOf(Mul(If(Less(i, 5), Mul(index, Read(0, {i})), Read(1, {i})),
                                   If(Less(i, 8), index, Read(1, {i}))));
  CHECK(CountInLoops(two, kExp) == 1);
  CHECK(CountInLoops(two, "scf.if") == 2);
  CheckAll(two);
}

// Reads 4 GiB behind the buffer where i > 0, but for the condition: not to be read there.
ExprPtr Far() { return Exp(Read(0, {i * (int64_t{1} << 30)})); }

TEST_CASE("no read leaves the conditions that guard it") {
  for (const ExprPtr& body : {
           Mul(If(Less(i, 1), Far(), Read(1, {i})), If(Less(i, 1), Far(), Number(2))),
           If(Less(i, 5), If(Less(i, 1), Far(), Read(1, {i})),
              If(Less(i, 1), Far(), Mul(Read(1, {i}), Number(3)))),
           Mul(Read(0, {i * (int64_t{1} << 30)}, Exp(Read(1, {i}))),
               If(Less(i, 1), Far(), Exp(Read(1, {i})))),
           If(Call(Function::kOr, {Less(i, 1), Less(i, 0)}), Add(Far(), Far()),
              If(Call(Function::kNot, {Less(i * -1, 0)}), Far(), Read(1, {i}))),
       }) {
    CheckAll(MapOf(body));
  }
}

TEST_CASE("the value outside of a tensor is computed once, and not inside") {
  const Affine before = i - ConstantAffine(6);
  const Definition two =
      MapOf(Mul(Read(0, {before}, Exp(Read(1, {i}))), Read(1, {before}, Exp(Read(1, {i})))));
  CHECK(CountInLoops(two, kExp) == 1);
  CheckAll(two);
}

TEST_CASE("a guarded term is not taken for one that is always known") {
  // The condition on data knows x1[i] at some points only, the body needs it at all.
  Definition gather = Define({12, 12}, 1, Reducer::kSum, {{12, 12}, {12}},
                             Mul(Read(0, {i, j}), Cast(Read(1, {i}), ElementType::kF32)));
  gather.operands[1].type = ElementType::kI64;
  const ExprPtr ids = Read(1, {i});
  gather.data_where.push_back(
      {j, Function::kLe, true,
       Add(If(Less(i, 3), ids, Integer(0)), If(Less(i * -1, -8), ids, Integer(1)))});
  CheckAll(gather);
}

TEST_CASE("a body of 61 terms is 60 operations") {
  ExprPtr chain = Read(0, {i});
  for (int n = 0; n < 60; ++n) chain = Mul(chain, chain);
  CHECK(CountInLoops(MapOf(chain), "arith.mulf") == 60);
  CheckAll(MapOf(chain));
  Definition sum = Define({4, 12}, 1, Reducer::kSum, {{4, 12}}, Read(0, {i, j}));
  for (int n = 0; n < 60; ++n) sum.body = Mul(sum.body, sum.body);
  CheckAll(sum);
}

TEST_CASE("a chain of branches, each with the one before on both sides or beside it") {
  ExprPtr sides = Read(0, {i}), beside = sides;
  for (int n = 0; n < 24; ++n) {
    const int64_t at = n % 12;
    sides = If(Less(i, at), Mul(sides, Number(0.5)), Add(sides, Read(1, {i})));
    beside = Add(If(Less(i, at), beside, Number(1)),
                 If(Less(i * -1, -at), Mul(beside, Number(0.5)), Read(1, {i})));
  }
  CHECK(CountInLoops(MapOf(sides), "arith.mulf") == 24);
  CHECK(CountInLoops(MapOf(beside), "arith.mulf") == 24);
  CheckAll(MapOf(sides));
  CheckAll(MapOf(beside));
}

TEST_CASE("conditions of 2^40 comparisons are as many as there are terms") {
  ExprPtr condition = Less(i, 5);
  for (int n = 0; n < 40; ++n) {
    condition = Call(n % 2 == 0 ? Function::kAnd : Function::kOr, {condition, condition});
  }
  CheckAll(MapOf(Mul(If(condition, Term(), Read(1, {i})),
                     If(Call(Function::kNot, {condition}), Term(), Read(1, {i})))));
}

TEST_CASE("the places of terms") {
  // a is on both sides, b on one side of each of two branches.
  const ExprPtr a = Exp(Read(0, {i})), b = Exp(Read(1, {i}));
  const ExprPtr first = If(Less(i, 5), Mul(a, b), a), second = If(Less(i, 3), b, Number(0));
  const ExprPtr root = SharedTerms().Of(Mul(first, second));
  const Placement placement(root, [](const Expr& expr) {
    return expr.kind == Expr::kCall && expr.function == Function::kSelect;
  });
  const std::vector<Region>& regions = placement.regions();
  REQUIRE(regions.size() == 6);  // the body, four sides, one guard
  REQUIRE(regions[0].hoisted.size() == 2);
  int guards = 0;
  for (const Hoisted& hoisted : regions[0].hoisted) {
    if (hoisted.guard < 0) {
      CHECK(hoisted.term == a.get());
      continue;
    }
    CHECK(hoisted.term == b.get());
    CHECK(regions[hoisted.guard].kind == Region::kGuard);
    CHECK(regions[hoisted.guard].uses.size() == 2);
    ++guards;
  }
  CHECK(guards == 1);
  for (size_t r = 1; r < regions.size(); ++r) CHECK(regions[r].hoisted.empty());
}

}  // namespace
}  // namespace yuba::kernels
