// Elaboration: a description (the text of an operator, language/ast.h), used on operands of known
// shapes with known attributes, becomes definitions in the core form (definition/definition.h). In
// come the Shape of each operand and the Attributes; out comes an Instance (instance.h). Results
// are the same for equal uses and may be shared.
//
// Example: the description
//   op f(x[m, k], w[k, n], opt c[n]; scale = 1) -> y[m, n]
//     z[i, j] = sum(q: k) x[i, q] * w[q, j]
//     y[i, j] = z[i, j] * scale + c[j]
// on x: f32[4, 6] and w: f32[6, 8], without c and with the default scale, becomes an Instance with
// the slots x, w and y and the one definition y[i: 4, j: 8] = sum(q: 6) x0[i, q] * x1[q, j]. What
// the factor 1 and the absent c would do is gone, and so is z.
#ifndef YUBA_OPSEMANTICS_ELABORATE_ELABORATE_H_
#define YUBA_OPSEMANTICS_ELABORATE_ELABORATE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/elaborate/instance.h"
#include "opsemantics/language/ast.h"

namespace yuba {

// `operands` are in the order of the description; nullopt for an absent `opt` operand (absent
// operands at the end may be left out). An extent that shapes do not settle (of a pack beside
// another, or of one of two factors) is given as an attribute of its name. Errors are a user's:
// they underline the place in the description and name operand, extents and attribute.
//
// kWith: the instance also has what the items `grad` of the description say, and what only they
// read. An operand that is absent, or broadcast in this use, has none.
enum class Gradients : uint8_t { kWithout, kWith };
absl::StatusOr<Instance> Elaborate(const OpDescription& op,
                                   const std::vector<absl::optional<Shape>>& operands,
                                   const Attributes& attributes,
                                   Gradients gradients = Gradients::kWithout);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_ELABORATE_H_
