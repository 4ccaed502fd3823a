// Custom gradients of a description, beside differences of all that it computes.
#ifndef YUBA_TESTS_OPSEMANTICS_SUPPORT_CUSTOM_GRADIENTS_H_
#define YUBA_TESTS_OPSEMANTICS_SUPPORT_CUSTOM_GRADIENTS_H_

#include "opsemantics/language/ast.h"

namespace yuba {

struct CustomGradients {
  int elements = 0;   // of operands that were compared, in all sample uses
  bool equal = true;  // where they are not, a note of the test framework says which one
};

// `elements` is 0 where the description has no custom gradient. Not equal where it does not
// elaborate.
CustomGradients CompareCustomGradients(const OpDescription& op);

}  // namespace yuba

#endif  // YUBA_TESTS_OPSEMANTICS_SUPPORT_CUSTOM_GRADIENTS_H_
