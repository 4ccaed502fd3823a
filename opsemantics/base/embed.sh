#!/bin/sh
# Prints a C++ file with the texts of files: embed.sh HEADER FUNCTION FILE ... (builtin_file.h)
header=$1
function=$2
shift 2
printf '#include "%s"\n\nnamespace yuba {\nnamespace {\n\n' "$header"
printf 'constexpr BuiltinFile kFiles[] = {\n'
for file in "$@"; do
  printf '{"%s", R"embedded(' "$(basename "$file")"
  cat "$file"
  printf ')embedded"},\n'
done
printf '};\n\n}  // namespace\n\n'
printf 'absl::Span<const BuiltinFile> %s() { return kFiles; }\n\n}  // namespace yuba\n' "$function"
