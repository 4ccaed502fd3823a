// Custom gradients: a description says what the gradient of an operand is, in an item `grad
// NAME[...]`. There dNAME is the gradient of the output NAME: of the loss, by each of its elements.
//
// Example: the gradient of softmax needs no more than its result:
//   op softmax(x[s.., n]) -> y[s.., n]
//     ...
//     t[i..] = sum(j: n) dy[i.., j] * y[i.., j]
//     grad x[i.., j] = y[i.., j] * (dy[i.., j] - t[i..])
#ifndef YUBA_OPSEMANTICS_LANGUAGE_GRADIENT_ITEMS_H_
#define YUBA_OPSEMANTICS_LANGUAGE_GRADIENT_ITEMS_H_

#include <set>
#include <string>

#include "opsemantics/language/ast.h"

namespace yuba {

// Whether the output is the next value of a state, which has no gradient.
inline bool IsNextValue(const Output& output) { return output.name.back() == '\''; }

// What the gradient of the output is called: "dy" for y.
inline std::string GradientName(const Output& output) { return "d" + output.name; }

// The names of definitions that read the gradient of an output, perhaps by way of others: {"t"} in
// the example. Empty where the description has no `grad`.
std::set<std::string> ReadersOfGradients(const OpDescription& op);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_GRADIENT_ITEMS_H_
