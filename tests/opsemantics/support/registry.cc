#include "tests/opsemantics/support/registry.h"

#include <set>

#include "opsemantics/base/check.h"
#include "opsemantics/elaborate/elaborate.h"
#include "opsemantics/elaborate/sample_uses.h"
#include "opsemantics/language/library.h"

namespace yuba {
namespace {

OperatorLibrary BuiltIn() {
  absl::StatusOr<OperatorLibrary> library = OperatorLibrary::BuiltIn();
  YUBA_CHECK(library.ok()) << library.status().ToString();
  return *std::move(library);
}

std::vector<Definition> DefinitionsOf(const OpDescription& op, const SampleUse& use) {
  const absl::StatusOr<Instance> instance =
      Elaborate(op, use.operands, use.attributes, Gradients::kWith);
  YUBA_CHECK(instance.ok()) << instance.status().ToString();
  std::vector<Definition> definitions;
  for (const SlotDefinition& slot : instance->definitions) definitions.push_back(slot.definition);
  return definitions;
}

// Text that two definitions share only if they are equal: types and extents are not all in
// ToString.
std::string Key(const Definition& definition) {
  std::string key = ToString(definition);
  std::vector<TensorType> types = definition.operands;
  types.push_back(definition.result);
  for (const TensorType& type : types) {
    key += std::string(" ") + Name(type.type);
    for (int64_t dim : type.dims) key += " " + std::to_string(dim);
  }
  return key;
}

}  // namespace

std::vector<RegistryEntry> RegistryDefinitions() {
  const OperatorLibrary library = BuiltIn();
  std::set<std::string> seen;
  std::vector<RegistryEntry> entries;
  for (const std::string& name : library.Names()) {
    const OpDescription& op = *library.Find(name);
    for (const SampleUse& use : SampleUses(op)) {
      for (Definition& definition : DefinitionsOf(op, use)) {
        if (seen.insert(Key(definition)).second) entries.push_back({name, std::move(definition)});
      }
    }
  }
  return entries;
}

std::vector<std::string> OperatorsWithoutUse() {
  const OperatorLibrary library = BuiltIn();
  std::vector<std::string> without;
  for (const std::string& name : library.Names()) {
    bool found = false;
    for (const SampleUse& use : SampleUses(*library.Find(name))) {
      found = found || !DefinitionsOf(*library.Find(name), use).empty();
    }
    if (!found) without.push_back(name);
  }
  return without;
}

}  // namespace yuba
