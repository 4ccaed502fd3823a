// Definitions of every kind that kernels are generated for.
#ifndef YUBA_TESTS_COMPILER_KERNELS_KERNEL_DEFINITIONS_H_
#define YUBA_TESTS_COMPILER_KERNELS_KERNEL_DEFINITIONS_H_

#include <string>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba::kernels {

struct DefinitionGroup {
  std::string name;
  std::vector<Definition> definitions;
  int parts;  // random parts that each is worth being tried on
};
const std::vector<DefinitionGroup>& KernelDefinitions();
const DefinitionGroup& FindGroup(const std::string& name);

}  // namespace yuba::kernels

#endif  // YUBA_TESTS_COMPILER_KERNELS_KERNEL_DEFINITIONS_H_
