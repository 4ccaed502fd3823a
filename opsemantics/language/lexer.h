// The words of a description file: from text to tokens.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_LEXER_H_
#define YUBA_OPSEMANTICS_LANGUAGE_LEXER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/language/source.h"

namespace yuba {

struct Token {
  enum Kind : uint8_t { kName, kInteger, kReal, kSymbol, kEnd };
  Kind kind = kEnd;
  absl::string_view text;  // of the source's text
  SourceRange range;
};

// All tokens in order; the last is a kEnd. Comments (# to the end of the line) and white space
// separate words. A character that starts no token is a user's error. Tokens point into the
// text of `source`, which must outlive them.
absl::StatusOr<std::vector<Token>> Tokenize(const Source& source);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_LEXER_H_
