#include "opsemantics/language/symbols.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/element_type.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

const char* KindName(Symbol::Kind kind) {
  switch (kind) {
    case Symbol::kExtent: return "an extent";
    case Symbol::kAttribute: return "an attribute";
    case Symbol::kLet: return "a let";
    case Symbol::kTensor: return "a tensor";
    case Symbol::kIndex: return "an index";
  }
  return "";
}

// The elements of the pack p are p0, p1, ...
bool IsElementOf(absl::string_view name, absl::string_view pack) {
  if (name.size() <= pack.size() || name.substr(0, pack.size()) != pack) return false;
  for (char c : name.substr(pack.size())) {
    if (!absl::ascii_isdigit(c)) return false;
  }
  return true;
}

}  // namespace

DimForm FormOf(bool pack, const Syntax& element) {
  const bool factors = element.kind == Syntax::kFactors;
  return {pack, factors ? static_cast<int>(element.args.size()) : 0};
}

std::string ToString(const DimForm& form) {
  std::string shown = "one dimension";
  if (form.factors > 0) shown = absl::StrCat(form.factors, " factors");
  return form.pack ? absl::StrCat("a pack of ", form.factors > 0 ? shown : "dimensions") : shown;
}

const Symbol* SymbolTable::Find(const std::string& name) const {
  const auto found = symbols_.find(name);
  return found == symbols_.end() ? nullptr : &found->second;
}

absl::Status SymbolTable::Declare(const std::string& name, const SourceRange& range,
                                  Symbol symbol) {
  if (const Symbol* other = Find(name)) {
    return Error(range, absl::StrCat("'", name, "' is already ", KindName(other->kind),
                                     " here; choose another name"));
  }
  if (name == "inf" || ElementTypeFromName(name)) {
    return Error(range, absl::StrCat("'", name, "' has a meaning of its own; choose another name"));
  }
  symbols_.emplace(name, std::move(symbol));
  return absl::OkStatus();
}

absl::Status SymbolTable::AddIndex(const std::string& name, bool pack, const SourceRange& range,
                                   std::vector<std::string>& added) {
  YUBA_RETURN_IF_ERROR(Declare(name, range, {Symbol::kIndex, pack, {}}));
  added.push_back(name);
  for (const auto& [other, symbol] : symbols_) {
    if (symbol.kind != Symbol::kIndex || other == name) continue;
    if ((pack && IsElementOf(other, name)) || (symbol.pack && IsElementOf(name, other))) {
      return Error(range, absl::StrCat("'", name, "' and '", other,
                                       "' are too alike: the elements "
                                       "of a pack p are called p0, p1, ...; rename one"));
    }
  }
  return absl::OkStatus();
}

void SymbolTable::Remove(const std::vector<std::string>& names) {
  for (const std::string& name : names) symbols_.erase(name);
}

}  // namespace yuba
