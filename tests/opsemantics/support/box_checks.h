// Derived boxes against the elements that the interpreter reads and writes, on random parts.
#ifndef YUBA_TESTS_OPSEMANTICS_SUPPORT_BOX_CHECKS_H_
#define YUBA_TESTS_OPSEMANTICS_SUPPORT_BOX_CHECKS_H_

#include <cstdint>
#include <random>

#include "opsemantics/definition/definition.h"

namespace yuba {

using Random = std::mt19937;

int64_t Between(int64_t least, int64_t greatest, Random& random);

// Checks the boxes of `parts` random parts of the definition: what is read is the bounding box of
// what the interpreter reads, and all of what is written is written. Where a condition on data has
// a table, its value must be one operand, read at the table's indices.
void CheckParts(const Definition& definition, int parts, Random& random);

}  // namespace yuba

#endif  // YUBA_TESTS_OPSEMANTICS_SUPPORT_BOX_CHECKS_H_
