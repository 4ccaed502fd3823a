// Whether a definition that was read from text is one that the rest may work with.
#ifndef YUBA_COMPILER_DUMP_DEFINITION_CHECK_H_
#define YUBA_COMPILER_DUMP_DEFINITION_CHECK_H_

#include "absl/status/status.h"
#include "opsemantics/definition/definition.h"

namespace yuba::compiler {

// Ranks, numbers of operands and arguments, extents; then the box analysis: no read without `else`
// leaves its operand and no left side leaves the result.
absl::Status CheckDefinition(const Definition& definition);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_DEFINITION_CHECK_H_
