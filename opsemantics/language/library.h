// The library of operators: the built-in descriptions (opsemantics/operators/*.tdl, inside the
// binary) and those that a user adds (--operators FILE). A plan file holds the library's hash, so
// that a plan is never run with other descriptions.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_LIBRARY_H_
#define YUBA_OPSEMANTICS_LANGUAGE_LIBRARY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/language/ast.h"

namespace yuba {

class OperatorLibrary {
 public:
  // The built-in operators; an error only where one of the files in the binary is wrong.
  static absl::StatusOr<OperatorLibrary> BuiltIn();

  // Adds the descriptions of one file; all or none of them. An operator that is already known by
  // its name is replaced where `replace` is set, else it is an error.
  absl::Status Add(absl::string_view file, absl::string_view text, bool replace = false);

  // Null where there is none. Valid as long as the library or a copy of it lives.
  const OpDescription* Find(absl::string_view name) const;

  std::vector<std::string> Names() const;  // sorted

  // A hash of the content: comments, white space, file names and the order of operators do not
  // count. The same on every machine.
  uint64_t Hash() const;

 private:
  std::map<std::string, std::shared_ptr<const OpDescription>> operators_;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_LIBRARY_H_
