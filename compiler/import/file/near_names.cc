#include "compiler/import/file/near_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace yuba::onnx {
namespace {

constexpr size_t kMostNames = 4;

// How many letters must be put in, taken out or exchanged to make one of the other.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> NearNames(const std::string& name, const std::vector<std::string>& names) {
  const std::string lower = absl::AsciiStrToLower(name);
  const size_t most = std::max<size_t>(2, name.size() / 4);
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& other : names) {
    const std::string other_lower = absl::AsciiStrToLower(other);
    const size_t longer = std::max(other.size(), name.size()) - name.size();
    const bool contains = !lower.empty() && absl::StrContains(other_lower, lower);
    if (!contains &&
        std::max(other.size(), name.size()) - std::min(other.size(), name.size()) > most)
      continue;
    const size_t distance = contains ? std::min(longer, most) : Distance(lower, other_lower);
    if (distance <= most && distance < std::max<size_t>(name.size(), 1))
      near.emplace_back(distance, other);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> result;
  for (size_t i = 0; i < near.size() && i < kMostNames; ++i) result.push_back(near[i].second);
  return result;
}

}  // namespace yuba::onnx
