// A text file that is compiled into the binary. A genrule writes the .cc with embed.sh:
//   embed.sh HEADER FUNCTION FILE ...
// defines `absl::Span<const BuiltinFile> FUNCTION()`, which HEADER declares.
#ifndef YUBA_OPSEMANTICS_BASE_BUILTIN_FILE_H_
#define YUBA_OPSEMANTICS_BASE_BUILTIN_FILE_H_

namespace yuba {

struct BuiltinFile {
  const char* name;  // without its folder
  const char* text;  // the whole file
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_BUILTIN_FILE_H_
