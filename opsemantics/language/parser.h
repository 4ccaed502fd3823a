// From the text of a description file to syntax trees. Survives any bytes: nesting is bounded and
// every mistake is an error that underlines its place.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_PARSER_H_
#define YUBA_OPSEMANTICS_LANGUAGE_PARSER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/language/ast.h"

namespace yuba {

// Only the grammar (README.md) is checked.
absl::StatusOr<std::vector<OpDescription>> ParseSyntax(absl::string_view file,
                                                       absl::string_view text);

// Also checks all that can be known without shapes (wellformed.h); what Elaborate expects.
absl::StatusOr<std::vector<OpDescription>> ParseFile(absl::string_view file,
                                                     absl::string_view text);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_PARSER_H_
