// The names of a description while it is checked: what each is, and what is known of it before any
// shape is.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_SYMBOLS_H_
#define YUBA_OPSEMANTICS_LANGUAGE_SYMBOLS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "opsemantics/language/ast.h"

namespace yuba {

// One dimension of a tensor, as written.
struct DimForm {
  bool pack = false;
  int factors = 0;  // 0: not written as factors
};
DimForm FormOf(bool pack, const Syntax& element);
std::string ToString(const DimForm& form);  // "2 factors", "a pack of dimensions"

struct Symbol {
  enum Kind : uint8_t { kExtent, kAttribute, kLet, kTensor, kIndex };
  Kind kind = kExtent;
  bool pack = false;
  std::vector<DimForm> dims;  // of a tensor
};

class SymbolTable {
 public:
  explicit SymbolTable(const OpDescription& op) : op_(op) {}

  absl::Status Error(const SourceRange& range, absl::string_view message) const {
    return SourceError(*op_.source, range, message);
  }

  const Symbol* Find(const std::string& name) const;  // null where there is none
  absl::Status Declare(const std::string& name, const SourceRange& range, Symbol symbol);
  // Also adds the name to `added`; ends with Remove.
  absl::Status AddIndex(const std::string& name, bool pack, const SourceRange& range,
                        std::vector<std::string>& added);
  void Remove(const std::vector<std::string>& names);

 private:
  const OpDescription& op_;
  std::map<std::string, Symbol> symbols_;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_SYMBOLS_H_
