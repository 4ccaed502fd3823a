// Every definition of every built-in operator, with the gradients that it says, in sample uses
// (elaborate/sample_uses.h): tests that walk this list test a new description the moment its text
// exists.
#ifndef YUBA_TESTS_OPSEMANTICS_SUPPORT_REGISTRY_H_
#define YUBA_TESTS_OPSEMANTICS_SUPPORT_REGISTRY_H_

#include <string>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

struct RegistryEntry {
  std::string op;  // for messages
  Definition definition;
};

// Equal definitions are listed once, under the first operator that has one.
std::vector<RegistryEntry> RegistryDefinitions();

// The names of operators none of whose sample uses has a definition.
std::vector<std::string> OperatorsWithoutUse();

}  // namespace yuba

#endif  // YUBA_TESTS_OPSEMANTICS_SUPPORT_REGISTRY_H_
