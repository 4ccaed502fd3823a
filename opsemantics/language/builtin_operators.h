// The files of operators/, compiled into the binary.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_BUILTIN_OPERATORS_H_
#define YUBA_OPSEMANTICS_LANGUAGE_BUILTIN_OPERATORS_H_

#include "absl/types/span.h"

namespace yuba {

struct BuiltinFile {
  const char* name;
  const char* text;
};

absl::Span<const BuiltinFile> BuiltinOperators();

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_BUILTIN_OPERATORS_H_
