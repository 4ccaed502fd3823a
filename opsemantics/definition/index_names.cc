#include "opsemantics/definition/index_names.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace yuba {

int AddIndex(Definition& definition, const std::string& name, int64_t extent, bool reduction) {
  const auto taken = [&](const std::string& wanted) {
    return std::any_of(definition.indices.begin(), definition.indices.end(),
                       [&](const Index& index) { return index.name == wanted; });
  };
  std::string fresh = name;
  for (int number = 2; taken(fresh); ++number) fresh = absl::StrCat(name, "_", number);
  definition.indices.push_back({fresh, extent, reduction});
  return static_cast<int>(definition.indices.size()) - 1;
}

bool HasDistinctIndices(const Definition& definition) {
  std::set<absl::string_view> names;
  return std::all_of(definition.indices.begin(), definition.indices.end(),
                     [&](const Index& index) { return names.insert(index.name).second; });
}

}  // namespace yuba
