// From the text of a description file to syntax trees (ast.h). Survives any bytes: nesting and the
// number of items are bounded, and every mistake is a user's error that underlines its place.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_PARSER_H_
#define YUBA_OPSEMANTICS_LANGUAGE_PARSER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/language/ast.h"

namespace yuba {

// Checks the grammar (opsemantics/README.md) alone. `file` is for messages.
absl::StatusOr<std::vector<OpDescription>> ParseSyntax(absl::string_view file,
                                                       absl::string_view text);

// ParseSyntax, and then all checks that need no shapes (wellformed.h). Elaborate expects
// descriptions from here.
absl::StatusOr<std::vector<OpDescription>> ParseFile(absl::string_view file,
                                                     absl::string_view text);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_PARSER_H_
