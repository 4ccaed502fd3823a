// Checks the operands, attributes, lets and outputs of a description, and of an opaque one what it
// says may be cut. Declares their names in `symbols`, which starts empty. The first mistake is a
// user's error that underlines its place.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_SIGNATURE_CHECK_H_
#define YUBA_OPSEMANTICS_LANGUAGE_SIGNATURE_CHECK_H_

#include "absl/status/status.h"
#include "opsemantics/language/ast.h"
#include "opsemantics/language/symbols.h"

namespace yuba {

absl::Status CheckSignature(const OpDescription& op, SymbolTable& symbols);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_SIGNATURE_CHECK_H_
