// Checks operands, attributes, lets and outputs of a description, and declares them.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_SIGNATURE_CHECK_H_
#define YUBA_OPSEMANTICS_LANGUAGE_SIGNATURE_CHECK_H_

#include "absl/status/status.h"
#include "opsemantics/language/ast.h"
#include "opsemantics/language/symbols.h"

namespace yuba {

absl::Status CheckSignature(const OpDescription& op, SymbolTable& symbols);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_SIGNATURE_CHECK_H_
