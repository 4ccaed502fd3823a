// Post-ops, by structure: what a map does with each element of one operand, as steps that libraries
// do to the results of their products and convolutions before they write them. The expression
// decides, never an operator's name, and numbers in it are compared.
//
// Example: y[i, j] = max(c[i, j] + b[j] + r[i, j], 0) is, of the operand c, the steps ADD of b
// along {1}, ADD of r along {0, 1}, and RELU.
#ifndef YUBA_OPSEMANTICS_REGIONS_POST_OPS_H_
#define YUBA_OPSEMANTICS_REGIONS_POST_OPS_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

struct PostOp {
  enum Kind : uint8_t {
    kAdd,           // v + e
    kSubtract,      // v - e
    kMultiply,      // v * e
    kScale,         // v * factor
    kRelu,          // max(v, 0)
    kGeluTanh,      // v/2 * (1 + tanh(sqrt(2/pi) * (v + 0.044715*v^3)))
    kGeluErf,       // v/2 * (1 + erf(v/sqrt(2)))
    kGeluTanhSlope  // v * the derivative of kGeluTanh at e (opsemantics/gradient/slopes.h)
  };
  Kind kind = kAdd;
  int operand = -1;          // of a kind with an e: position in Definition::operands
  std::vector<int> indices;  // of each of its flat dimensions: a position in Definition::indices
                             // that runs along it alone, or -1 where the extent is 1
  double factor = 1;         // of kScale

  bool HasOperand() const { return kind <= kMultiply || kind == kGeluTanhSlope; }
};

// The steps, first to last, by which the map makes an element of its result of that element of
// operand `value`. nullopt where the definition is no such map: it reads `value` elsewhere or other
// operands at anything but indices alone, does something that no step does, or its tensors are not
// all of one type.
absl::optional<std::vector<PostOp>> MatchPostOps(const Definition& definition, int value);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_REGIONS_POST_OPS_H_
