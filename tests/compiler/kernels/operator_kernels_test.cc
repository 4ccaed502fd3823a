// The kernels of every operator of the library compute what the interpreter computes.
#include <algorithm>

#include "catch2/catch.hpp"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/elaborate/sample_uses.h"
#include "opsemantics/language/library.h"
#include "tests/compiler/kernels/kernel_runner.h"
#include "tests/support/status_matchers.h"

namespace yuba::kernels {
namespace {

constexpr int kUses = 3;           // of each operator
constexpr int64_t kPoints = 3000;  // of a definition's indices, at most: the interpreter is slow

std::vector<Definition> DefinitionsOf(const OperatorLibrary& library, const std::string& name) {
  std::vector<Definition> definitions;
  for (const SampleUse& use : SampleUses(*library.Find(name), kUses, kPoints)) {
    const absl::StatusOr<Instance> instance =
        Elaborate(*library.Find(name), use.operands, use.attributes, Gradients::kWith);
    REQUIRE_THAT(instance, IsOk());
    for (const SlotDefinition& slot : instance->definitions) {
      const Definition& definition = slot.definition;
      if (IsOpaque(definition)) continue;  // no code is generated for it
      if (std::find(definitions.begin(), definitions.end(), definition) == definitions.end())
        definitions.push_back(definition);
    }
  }
  return definitions;
}

void CheckOperators(Arithmetic arithmetic) {
  const absl::StatusOr<OperatorLibrary> library = OperatorLibrary::BuiltIn();
  REQUIRE_THAT(library, IsOk());
  std::vector<Definition> definitions;
  for (const std::string& name : library->Names()) {
    for (Definition& definition : DefinitionsOf(*library, name))
      definitions.push_back(std::move(definition));
  }
  CHECK(definitions.size() > 100);
  CHECK(CheckKernels(definitions, arithmetic, 5) == "");
}

TEST_CASE("kernels of all operators, in floats") { CheckOperators(Arithmetic::kFloat); }
TEST_CASE("kernels of all operators, in hash arithmetic") { CheckOperators(Arithmetic::kHash); }

}  // namespace
}  // namespace yuba::kernels
