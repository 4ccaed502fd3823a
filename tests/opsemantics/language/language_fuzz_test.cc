// Mutated descriptions and uses: an error or a result, never a crash or a hang.
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/elaborate/sample_uses.h"
#include "opsemantics/language/library.h"
#include "opsemantics/language/parser.h"
#include "tests/support/mutate.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

const std::vector<std::string>& Words() {
  static const auto* const words = new std::vector<std::string>{
      "op",   "opaque", "state",       "opt",     "let",     "nograd", "grad", "if",   "then",
      "else", "where",  "sum",         "max",     "pick",    "size",   "cast", "wrap", "inf",
      "f16",  "i64",    "bool",        "type",    "..",      "~",      "'",    "(",    ")",
      "[",    "]",      ",",           ";",       ":",       "=",      "==",   "<=",   "<",
      "+",    "-",      "*",           "/",       "x",       "y",      "n",    "h",    "argmax",
      "any",  "(0 c)",  "(p*2 - 1)..", "(a b)..", "u..: k.."};
  return *words;
}

// Some valid uses with a few of their numbers replaced.
void UseWithOddNumbers(const OpDescription& op, Random& random) {
  for (SampleUse& use : SampleUses(op, 3, 1000)) {
    for (absl::optional<Shape>& operand : use.operands) {
      if (operand && !operand->dims.empty() && Below(random, 2) == 0) {
        operand->dims[Below(random, operand->dims.size())] = OddNumber(random);
      }
    }
    for (auto& [name, value] : use.attributes) {
      if (absl::holds_alternative<int64_t>(value) && Below(random, 2) == 0)
        value = OddNumber(random);
      if (auto* list = absl::get_if<std::vector<int64_t>>(&value)) {
        if (!list->empty()) (*list)[Below(random, list->size())] = OddNumber(random);
      }
    }
    const auto instance = Elaborate(op, use.operands, use.attributes);
    if (!instance.ok()) CHECK(!instance.status().message().empty());
  }
}

std::vector<std::string> Texts() {
  auto library = OperatorLibrary::BuiltIn();
  REQUIRE_THAT(library, IsOk());
  std::vector<std::string> texts;
  for (const std::string& name : library->Names()) {
    texts.push_back(std::string(library->Find(name)->text()));
  }
  return texts;
}

}  // namespace

TEST_CASE("mutated descriptions are refused or used") {
  Random random(20190325 + Catch::rngSeed());
  const std::vector<std::string> texts = Texts();
  int accepted = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = texts[Below(random, texts.size())];
    text = Below(random, 4) == 0 ? MutateBytes(text, random) : MutateWords(text, Words(), random);
    const auto ops = ParseFile("mutated.tdl", text);
    if (!ops.ok()) {
      CHECK(ops.status().message().find("mutated.tdl:") == 0);
      continue;
    }
    ++accepted;
    for (const OpDescription& op : *ops) {
      if (accepted % 4 == 0) UseWithOddNumbers(op, random);
    }
  }
  CHECK(accepted > 100);
}

TEST_CASE("odd extents and attributes are refused or used") {
  Random random(7 + Catch::rngSeed());
  auto library = OperatorLibrary::BuiltIn();
  REQUIRE_THAT(library, IsOk());
  for (const std::string& name : library->Names()) {
    for (int round = 0; round < 10; ++round) UseWithOddNumbers(*library->Find(name), random);
  }
}

}  // namespace yuba
