#include "opsemantics/language/library.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/language/builtin_operators.h"
#include "opsemantics/language/lexer.h"
#include "opsemantics/language/parser.h"

namespace yuba {
namespace {

// FNV-1a: the same on every machine and in every version.
void AddToHash(absl::string_view bytes, uint64_t& hash) {
  for (unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
}

}  // namespace

absl::StatusOr<OperatorLibrary> OperatorLibrary::BuiltIn() {
  OperatorLibrary library;
  for (const BuiltinFile& file : BuiltinOperators()) {
    YUBA_RETURN_IF_ERROR(library.Add(file.name, file.text));
  }
  return library;
}

absl::Status OperatorLibrary::Add(absl::string_view file, absl::string_view text, bool replace) {
  YUBA_ASSIGN_OR_RETURN(std::vector<OpDescription> ops, ParseFile(file, text));
  std::map<std::string, std::shared_ptr<const OpDescription>> added;
  for (OpDescription& op : ops) {
    const auto known = operators_.find(op.name);
    if (known != operators_.end() && !replace) {
      return SourceError(*op.source, op.name_range,
                         absl::StrCat("the operator '", op.name, "' is already described in ",
                                      known->second->source->file, "; choose another name"));
    }
    if (added.count(op.name) != 0) {
      return SourceError(*op.source, op.name_range,
                         absl::StrCat("the operator '", op.name, "' is described twice here"));
    }
    const std::string name = op.name;
    added[name] = std::make_shared<const OpDescription>(std::move(op));
  }
  for (auto& [name, op] : added) operators_[name] = std::move(op);
  return absl::OkStatus();
}

const OpDescription* OperatorLibrary::Find(absl::string_view name) const {
  const auto found = operators_.find(std::string(name));
  return found == operators_.end() ? nullptr : found->second.get();
}

std::vector<std::string> OperatorLibrary::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, op] : operators_) names.push_back(name);
  return names;
}

uint64_t OperatorLibrary::Hash() const {
  uint64_t hash = 0xcbf29ce484222325;
  for (const auto& [name, op] : operators_) {
    const Source text{"", std::string(op->text())};
    const auto tokens = Tokenize(text);
    if (!tokens.ok()) continue;  // cannot be: it was parsed
    for (const Token& token : *tokens) {
      AddToHash(token.text, hash);
      AddToHash(" ", hash);
    }
  }
  return hash;
}

}  // namespace yuba
