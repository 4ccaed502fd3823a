// Definitions of every kind that kernels are generated for, written by hand in groups: products,
// convolutions, pooling, reductions by every reducer and type, constraints, strided gradients,
// conditions on data, casts, functions. The tests of kernels and of PTX run over them.
#ifndef YUBA_TESTS_COMPILER_KERNELS_KERNEL_DEFINITIONS_H_
#define YUBA_TESTS_COMPILER_KERNELS_KERNEL_DEFINITIONS_H_

#include <string>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba::kernels {

struct DefinitionGroup {
  std::string name;
  std::vector<Definition> definitions;
  int parts;  // on how many random parts of its ranges each definition is tried
};
// All groups; they live as long as the program.
const std::vector<DefinitionGroup>& KernelDefinitions();
// The group of that name, which must exist.
const DefinitionGroup& FindGroup(const std::string& name);

}  // namespace yuba::kernels

#endif  // YUBA_TESTS_COMPILER_KERNELS_KERNEL_DEFINITIONS_H_
