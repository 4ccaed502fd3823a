// The text of a description file, places in it, and errors that underline places.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_SOURCE_H_
#define YUBA_OPSEMANTICS_LANGUAGE_SOURCE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace yuba {

struct Source {
  std::string file;  // its name, for messages
  std::string text;
};
using SourcePtr = std::shared_ptr<const Source>;

// Bytes [begin, end) of a source's text.
struct SourceRange {
  int begin = 0;
  int end = 0;
};

SourceRange Join(const SourceRange& a, const SourceRange& b);  // from the first to the last byte

// InvalidArgument: "file:line:column: message", the line, and carets under the range, for example
//
//   conv.tdl:3:9: there is no index or extent named 'qq'
//     y[n] = qq[n]
//            ^~
absl::Status SourceError(const Source& source, const SourceRange& range, absl::string_view message);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_SOURCE_H_
