#include "tools/report/nearest.h"

#include <algorithm>

namespace yuba::tools {
namespace {

// The fewest changes that make `b` of `a`: the optimal string alignment distance.
size_t Changes(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> of(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) of[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) of[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      of[i][j] = std::min(
          {of[i - 1][j] + 1, of[i][j - 1] + 1, of[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) of[i][j] = std::min(of[i][j], of[i - 2][j - 2] + 1);
    }
  }
  return of[a.size()][b.size()];
}

}  // namespace

std::string NearestOf(const std::string& given, const std::vector<std::string>& names) {
  std::string nearest;
  size_t fewest = given.size() / 3 + 1;
  for (const std::string& name : names) {
    // Names whose lengths differ by more need more changes; some are many and long.
    const size_t longer = std::max(name.size(), given.size()),
                 shorter = std::min(name.size(), given.size());
    if (longer - shorter >= fewest) continue;
    const size_t changes = Changes(given, name);
    if (changes >= fewest) continue;
    fewest = changes;
    nearest = name;
  }
  return nearest;
}

}  // namespace yuba::tools
