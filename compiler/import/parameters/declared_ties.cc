#include "compiler/import/parameters/declared_ties.h"

#include <string>

namespace yuba::onnx {
namespace {

// The file's name of a stored tensor that the user calls by its parameter or by its form.
std::string InFile(const std::string& name, const FileGraph& order) {
  if (order.initializers.count(name) > 0) return name;
  for (const auto& [stored, role] : order.roles) {
    const bool is_one = role.word == StoredRole::Word::kParameter && role.form.has_value();
    if (is_one && IsCalled(*role.form, name)) return stored;
  }
  return name;
}

}  // namespace

std::vector<TieOptions> TiesOf(const StoredRoles& roles, const std::vector<TieOptions>& given,
                               const FileGraph& order) {
  std::vector<TieOptions> ties;
  for (const auto& [tied, kept] : roles.same) ties.push_back({tied, kept});
  for (const TieOptions& tie : given) {
    const auto merged = roles.merged.find(tie.tied);
    if (merged == roles.merged.end() || merged->second != tie.kept)
      ties.push_back({InFile(tie.tied, order), InFile(tie.kept, order)});
  }
  return ties;
}

}  // namespace yuba::onnx
