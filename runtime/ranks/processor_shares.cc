#include "runtime/ranks/processor_shares.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace yuba::runtime {

int NumberIn(const std::string& path) {
  int number = -1;
  std::ifstream file(path);
  return file >> number ? number : -1;
}

std::vector<std::vector<int>> ProcessorShares(std::vector<int> processors, int ranks,
                                              const NumberInFile& number_in) {
  const int count = static_cast<int>(processors.size());
  if (ranks < 1 || count < ranks) return {};
  std::map<int, std::pair<int, int>> place;  // by processor: package and core
  for (const int processor : processors) {
    const std::string topology =
        absl::StrCat("/sys/devices/system/cpu/cpu", processor, "/topology/");
    place[processor] = {number_in(topology + "physical_package_id"),
                        number_in(topology + "core_id")};
  }
  std::stable_sort(processors.begin(), processors.end(),
                   [&](int a, int b) { return place[a] < place[b]; });
  std::vector<std::vector<int>> shares;
  for (int rank = 0; rank < ranks; ++rank) {
    shares.emplace_back(processors.begin() + count * rank / ranks,
                        processors.begin() + count * (rank + 1) / ranks);
    std::sort(shares.back().begin(), shares.back().end());
  }
  return shares;
}

}  // namespace yuba::runtime
