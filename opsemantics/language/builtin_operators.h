// The files of opsemantics/operators, compiled into the binary as text.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_BUILTIN_OPERATORS_H_
#define YUBA_OPSEMANTICS_LANGUAGE_BUILTIN_OPERATORS_H_

#include "absl/types/span.h"
#include "opsemantics/base/builtin_file.h"

namespace yuba {

absl::Span<const BuiltinFile> BuiltinOperators();

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_BUILTIN_OPERATORS_H_
