// Checks what an opaque description says beside its signature's names: that a function of its name
// exists, and that the dimensions which may be cut are those along which operands and output are
// aligned.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_OPAQUE_CHECK_H_
#define YUBA_OPSEMANTICS_LANGUAGE_OPAQUE_CHECK_H_

#include "absl/status/status.h"
#include "opsemantics/language/ast.h"
#include "opsemantics/language/symbols.h"

namespace yuba {

// `op` is opaque, its operands, attributes and outputs are declared in `symbols`. The first mistake
// is a user's error: a name that no function has (the error lists those there are), more than one
// output, operands that may be absent, are updated or broadcast, dimensions made of factors, packs
// of attributes, and cut dimensions that the output or all operands lack, or that one has twice.
absl::Status CheckOpaque(const OpDescription& op, const SymbolTable& symbols);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_OPAQUE_CHECK_H_
