// The checks of a description that need no shapes: that every name is defined, once, and used as
// what it is; that reads and left sides have the dimensions of their tensors; that every output is
// defined, every other tensor is read, and nothing is defined by way of itself.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_WELLFORMED_H_
#define YUBA_OPSEMANTICS_LANGUAGE_WELLFORMED_H_

#include "absl/status/status.h"
#include "opsemantics/language/ast.h"

namespace yuba {

// The first mistake as a user's error that underlines its place; ok where there is none.
absl::Status CheckWellFormed(const OpDescription& op);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_WELLFORMED_H_
