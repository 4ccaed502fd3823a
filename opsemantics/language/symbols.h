// The names of a description while it is checked: what each name is (an extent, an index, a tensor,
// ...), whether it is a pack, and how a tensor's dimensions are written. Shapes are not known yet.
// No name may mean two things at a time.
#ifndef YUBA_OPSEMANTICS_LANGUAGE_SYMBOLS_H_
#define YUBA_OPSEMANTICS_LANGUAGE_SYMBOLS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "opsemantics/language/ast.h"

namespace yuba {

// How one dimension of a tensor is written.
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
  // Declares an index and appends its name to `added`; Remove(added) ends its scope. An index may
  // not be called like an element of a pack of indices: of p.. they are p0, p1, ...
  absl::Status AddIndex(const std::string& name, bool pack, const SourceRange& range,
                        std::vector<std::string>& added);
  void Remove(const std::vector<std::string>& names);

 private:
  const OpDescription& op_;
  std::map<std::string, Symbol> symbols_;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_LANGUAGE_SYMBOLS_H_
