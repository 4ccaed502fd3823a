// How names, numbers and bytes are written in a dump.
#ifndef YUBA_COMPILER_DUMP_ENUM_WORDS_H_
#define YUBA_COMPILER_DUMP_ENUM_WORDS_H_

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "runtime/program/checksum.h"

namespace yuba::compiler {

// "a name", with C's escapes.
inline std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

// "0000803f"; of more than 16 bytes their number and checksum: "9216 bytes 1d0f33e29b2c01aa".
inline std::string BytesText(absl::string_view bytes) {
  if (bytes.size() <= 16) return absl::BytesToHexString(bytes);
  runtime::Checksum sum;
  sum.Add(bytes);
  return absl::StrCat(bytes.size(), " bytes ", absl::Hex(sum.value(), absl::kZeroPad16));
}

// "[a, b]", each element as `text` writes it.
template <typename List, typename Text>
std::string ListText(const List& list, const Text& text) {
  return absl::StrCat("[",
                      absl::StrJoin(list, ", ",
                                    [&text](std::string* out, const auto& element) {
                                      absl::StrAppend(out, text(element));
                                    }),
                      "]");
}

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_DUMP_ENUM_WORDS_H_
