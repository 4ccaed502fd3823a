#!/bin/sh
# Prints a C++ file with the texts of the description files given as arguments.
printf '#include "opsemantics/language/builtin_operators.h"\n\nnamespace yuba {\nnamespace {\n\n'
printf 'constexpr BuiltinFile kFiles[] = {\n'
for file in "$@"; do
  printf '{"%s", R"tdl(' "$(basename "$file")"
  cat "$file"
  printf ')tdl"},\n'
done
printf '};\n\n}  // namespace\n\n'
printf 'absl::Span<const BuiltinFile> BuiltinOperators() { return kFiles; }\n\n}  // namespace yuba\n'
