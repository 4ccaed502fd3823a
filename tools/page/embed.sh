#!/bin/sh
# Prints a C++ file with the texts of the files given as arguments.
printf '#include "tools/page/page_files.h"\n\nnamespace yuba::tools {\nnamespace {\n\n'
printf 'constexpr PageFile kFiles[] = {\n'
for file in "$@"; do
  printf '{"%s", R"page(' "$(basename "$file")"
  cat "$file"
  printf ')page"},\n'
done
printf '};\n\n}  // namespace\n\n'
printf 'absl::Span<const PageFile> PageFiles() { return kFiles; }\n\n}  // namespace yuba::tools\n'
