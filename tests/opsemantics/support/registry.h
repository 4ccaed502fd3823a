// Every definition of every operator that is built in, in sample uses: a new description is found
// the moment its text exists.
#ifndef YUBA_TESTS_OPSEMANTICS_SUPPORT_REGISTRY_H_
#define YUBA_TESTS_OPSEMANTICS_SUPPORT_REGISTRY_H_

#include <string>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

struct RegistryEntry {
  std::string op;
  Definition definition;
};

// Equal definitions are there once, under the first operator that has one.
std::vector<RegistryEntry> RegistryDefinitions();

// The names of operators without any definition of their own in a sample use.
std::vector<std::string> OperatorsWithoutUse();

}  // namespace yuba

#endif  // YUBA_TESTS_OPSEMANTICS_SUPPORT_REGISTRY_H_
