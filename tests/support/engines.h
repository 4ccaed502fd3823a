// Searches of some engines alone.
#ifndef YUBA_TESTS_SUPPORT_ENGINES_H_
#define YUBA_TESTS_SUPPORT_ENGINES_H_

#include <algorithm>
#include <string>
#include <vector>

#include "search/search.h"

namespace yuba::search {

// The options with all engines left out but these: Only(options, {"grids", "axes"}).
inline SearchOptions Only(SearchOptions options, const std::vector<std::string>& engines) {
  for (const std::string& name : EngineNames()) {
    if (std::count(engines.begin(), engines.end(), name) == 0) options.without.push_back(name);
  }
  return options;
}

}  // namespace yuba::search

#endif  // YUBA_TESTS_SUPPORT_ENGINES_H_
