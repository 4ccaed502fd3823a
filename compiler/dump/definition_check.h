// Whether a definition that was read from text is one that the compiler may work with. Definitions
// made by elaboration pass by construction; those of a dump that somebody changed need not.
// Example: y[i] = x[i + 1] with 8 elements in both is refused, since it reads element 8 of x.
#ifndef YUBA_COMPILER_DUMP_DEFINITION_CHECK_H_
#define YUBA_COMPILER_DUMP_DEFINITION_CHECK_H_

#include "absl/status/status.h"
#include "opsemantics/definition/definition.h"

namespace yuba::compiler {

// Checks ranks, the numbers of operands and arguments, and extents (at most 2^40); then, by the box
// analysis, that no read without `else` leaves its operand and that what is written stays within
// the result. An error of the user (InvalidArgument) that names the first fault.
absl::Status CheckDefinition(const Definition& definition);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_DEFINITION_CHECK_H_
