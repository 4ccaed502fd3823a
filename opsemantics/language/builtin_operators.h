// The files of opsemantics/operators, compiled into the binary as text (embed.sh writes the .cc).
#ifndef YUBA_OPSEMANTICS_LANGUAGE_BUILTIN_OPERATORS_H_
#define YUBA_OPSEMANTICS_LANGUAGE_BUILTIN_OPERATORS_H_

#include "absl/types/span.h"

namespace yuba {

struct BuiltinFile {
  const char* name;  // without its folder, for messages
  const char* text;  // the whole file
};

absl::Span<const BuiltinFile> BuiltinOperators();

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_BUILTIN_OPERATORS_H_
