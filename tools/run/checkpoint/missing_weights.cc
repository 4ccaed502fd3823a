#include "tools/run/checkpoint/missing_weights.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/optional.h"
#include "opsemantics/base/status.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/checkpoint.h"

namespace yuba::tools {

bool IsFormOf(const std::string& tensor, const std::string& parameter) {
  for (const char* how : {", transposed", ", reshaped", ", joined", ", gates reordered"}) {
    if (!absl::EndsWith(tensor, how)) continue;
    const std::string names = tensor.substr(0, tensor.size() - std::string(how).size());
    const std::vector<std::string> parts = absl::StrSplit(names, " and ");
    return std::count(parts.begin(), parts.end(), parameter) > 0;
  }
  return false;
}

std::string ComputedText(const StoredForm& form) {
  return absl::StrCat(form.stored_as, " (which the model has computed of ",
                      absl::StrJoin(form.parameters, ", "),
                      ": export it with optimize=False, which keeps these)");
}

bool IsCheckpointOf(const WeightFiles& files, const std::map<std::string, std::string>& missing) {
  return IsCheckpoint(files) && std::none_of(missing.begin(), missing.end(), [&](const auto& one) {
           const auto& [name, stored_as] = one;
           if (stored_as == name) return false;
           const auto formed = files.formed.find(name);
           const bool part = formed != files.formed.end() && formed->second.stored != stored_as;
           return part || files.file.tensors.count(name) + files.shared.count(name) > 0;
         });
}

absl::StatusOr<std::vector<std::string>> ValuesOfMissing(
    const WeightFiles& files, const std::map<std::string, std::string>& missing) {
  std::vector<std::string> names;
  if (IsCheckpointOf(files, missing)) return names;
  for (const auto& [name, stored_as] : missing) {
    if (files.formed.count(name) > 0) names.push_back(name);
    YUBA_ASSIGN_OR_RETURN(const auto view, FindWeight(files, name));
    if (!view.has_value()) continue;
    absl::optional<StoredView> other;
    if (!stored_as.empty() && stored_as != name) {
      YUBA_ASSIGN_OR_RETURN(other, FindWeight(files, stored_as));
    }
    if (!other.has_value() || !CheckEqual(*view, *other).ok()) names.push_back(name);
  }
  return names;
}

absl::Status MissingPlaces(const std::string& path, const std::vector<std::string>& names) {
  return UserError(path, ": has ", FirstOf(names), ", of which the model's file has only what was ",
                   "computed with the old values, or one tensor for several: export the model ",
                   "with optimize=False, which keeps each; --partial-weights does without");
}

absl::Status MissingWeights(const std::string& path, const std::vector<std::string>& missing) {
  return UserError(path, ": has no values of ", FirstOf(missing), ", ",
                   missing.size() == 1 ? "a weight" : "weights",
                   " of the model; --partial-weights leaves there what the model's file has");
}

}  // namespace yuba::tools
