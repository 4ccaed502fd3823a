// The built-in operators as a whole, and what users add to them. No operator is named here.
#include "opsemantics/language/library.h"

#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "opsemantics/elaborate/sample_uses.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

OperatorLibrary BuiltIn() {
  auto library = OperatorLibrary::BuiltIn();
  REQUIRE_THAT(library, IsOk());
  return *std::move(library);
}

constexpr char kTwice[] = "op tests_twice(x[n]) -> y[n]\n  y[i] = x[i] + x[i]\n";

}  // namespace

TEST_CASE("every built-in operator has uses that elaborate") {
  const OperatorLibrary library = BuiltIn();
  CHECK(library.Names().size() > 50);
  for (const std::string& name : library.Names()) {
    INFO(name);
    const OpDescription& op = *library.Find(name);
    CHECK(!op.comment.empty());
    const std::vector<SampleUse> uses = SampleUses(op);
    CHECK(uses.size() >= 3);
    for (const SampleUse& use : uses) {
      auto instance = Elaborate(op, use.operands, use.attributes);
      REQUIRE_THAT(instance, IsOk());
      CHECK(!instance->definitions.empty());
      for (const SlotDefinition& definition : instance->definitions) {
        CHECK(definition.operands.size() == definition.definition.operands.size());
        CHECK(definition.definition.left.size() == definition.definition.result.dims.size());
      }
    }
  }
}

TEST_CASE("users add operators, but do not replace others unasked") {
  OperatorLibrary library = BuiltIn();
  const size_t before = library.Names().size();
  CHECK(library.Find("tests_twice") == nullptr);
  REQUIRE_THAT(library.Add("mine.tdl", kTwice), IsOk());
  REQUIRE(library.Find("tests_twice") != nullptr);
  CHECK(library.Names().size() == before + 1);
  const absl::Status again = library.Add("other.tdl", kTwice);
  CHECK(again.message() ==
        "other.tdl:1:4: the operator 'tests_twice' is already described in "
        "mine.tdl; choose another name\n"
        "  op tests_twice(x[n]) -> y[n]\n"
        "     ^~~~~~~~~~~");
  CHECK_THAT(library.Add("other.tdl", kTwice, /*replace=*/true), IsOk());
  // A file with a mistake adds nothing.
  CHECK_THAT(
      library.Add("bad.tdl", "op tests_a(x[n]) -> y[n] y[i] = x[i]\nop tests_b("),
      StatusIs(absl::StatusCode::kInvalidArgument, "bad.tdl:2:12: expected an operand's name"));
  CHECK(library.Find("tests_a") == nullptr);
  CHECK(library
            .Add("double.tdl",
                 "op tests_a(x[n]) -> y[n] y[i] = x[i]\n"
                 "op tests_a(x[n]) -> y[n] y[i] = x[i]")
            .message()
            .find("is described twice here") != absl::string_view::npos);
}

TEST_CASE("the hash is of the content") {
  OperatorLibrary a = BuiltIn(), b = BuiltIn(), c = BuiltIn();
  CHECK(a.Hash() == b.Hash());
  REQUIRE_THAT(a.Add("a.tdl", kTwice), IsOk());
  CHECK(a.Hash() != b.Hash());
  REQUIRE_THAT(
      b.Add("b.tdl", "# Twice.\nop tests_twice( x[n] )\n   -> y[n] # y\n y[i] = x[i]+x[i]"),
      IsOk());
  CHECK(a.Hash() == b.Hash());
  REQUIRE_THAT(c.Add("a.tdl", "op tests_twice(x[n]) -> y[n]  y[i] = x[i] + x[i] + 0"), IsOk());
  CHECK(a.Hash() != c.Hash());
}

TEST_CASE("sample uses vary what a signature leaves open") {
  OperatorLibrary library;
  REQUIRE_THAT(
      library.Add("t.tdl",
                  "op t(x[s..~, (g c), n], opt o[n]; stride.. = 1, up: bool = 0, kind: type)\n"
                  "  -> y[s.., g, c]: kind\n"
                  "  y[i.., a, b] = cast(sum(j: n) ((if up then x[i.., (a b), j] * 2 else\n"
                  "    x[i.., (a b), j]) + o[j]), kind)"),
      IsOk());
  const std::vector<SampleUse> uses = SampleUses(*library.Find("t"), 20);
  bool absent = false, present = false, even = false, uneven = false, truth = false;
  std::vector<bool> ranks(3);
  for (const SampleUse& use : uses) {
    REQUIRE(use.operands.size() == 2);
    (use.operands[1] ? present : absent) = true;
    const int64_t last = use.operands[0]->dims.back();
    if (last >= 4) (last % 2 == 0 ? even : uneven) = true;
    const size_t rank = use.operands[0]->dims.size() - 2;
    REQUIRE(rank < ranks.size());
    ranks[rank] = true;
    const auto up = use.attributes.find("up");
    truth = truth || (up != use.attributes.end() && absl::get<int64_t>(up->second) == 1);
    CHECK(use.attributes.count("kind") == 1);
  }
  CHECK(absent);
  CHECK(present);
  CHECK(even);
  CHECK(uneven);
  CHECK(truth);
  CHECK(ranks == std::vector<bool>{true, true, true});
}

}  // namespace yuba
