// Descriptions with changed words and bytes, parsed and, where that works, elaborated: never a crash.
#include <catch2/catch.hpp>
#include <iostream>

#include "opsemantics/elaborate.h"
#include "opsemantics/library.h"
#include "tests/support/mutate.h"
#include "opsemantics/sample_uses.h"

namespace yuba {
namespace {

TEST_CASE("mutants of the built-in descriptions never crash the parser or the elaboration") {
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  const std::vector<std::string> names = library.Names();
  const std::vector<std::string> words = {"op", "let", "sum", "max", "pick", "where", "else", "if", "then",
                                          "(", ")", "[", "]", "..", "~", ":", ",", "==", "<=", "->", "=",
                                          "0", "1", "-1", "/", "*", "nograd", "state", "opt", "x", "y'"};
  const uint64_t seed = Catch::rngSeed() * uint64_t{1000003};
  int parsed = 0, elaborated = 0;
  for (int round = 0; round < 3000; ++round) {
    Random random(seed + round);
    std::cerr << "language seed " << seed + round << "\r" << std::flush;
    const OpDescription& op = *library.Find(names[Below(random, names.size())]);
    const std::string text(op.text());
    OperatorLibrary mutants;
    const std::string mutant =
        Below(random, 4) == 0 ? MutateBytes(text, random) : MutateWords(text, words, random);
    if (!mutants.Add("mutant.tdl", mutant).ok()) continue;
    ++parsed;
    for (const std::string& name : mutants.Names()) {
      for (const SampleUse& use : SampleUses(op)) {
        if (Elaborate(*mutants.Find(name), use.operands, use.attributes).ok()) ++elaborated;
        if (Below(random, 4) == 0) break;
      }
    }
  }
  std::cerr << "language: " << parsed << " parsed, " << elaborated << " uses elaborated\n";
  CHECK(parsed > 0);
}

}  // namespace
}  // namespace yuba
