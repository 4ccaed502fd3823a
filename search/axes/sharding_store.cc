#include "search/axes/sharding_store.h"

#include <algorithm>
#include <map>

namespace yuba::search {

int CutStore::Number(const Cut& cut) {
  auto [place, is_new] = numbers_.emplace(cut.axes, static_cast<int>(cuts_.size()));
  if (is_new) cuts_.push_back(cut);
  return place->second;
}

int CutStore::NumberOfDims(const std::vector<int>& dims) {
  auto found = std::find(dims_.begin(), dims_.end(), dims);
  if (found == dims_.end()) found = dims_.insert(dims_.end(), dims);
  return static_cast<int>(found - dims_.begin());
}

int CutStore::Mapped(int cut, int dims) {
  auto [place, is_new] = mapped_.emplace(uint64_t{static_cast<uint32_t>(cut)} << 32 | dims, 0);
  if (is_new) {
    Cut mapped;
    for (int d : dims_[dims]) mapped.axes.push_back(d < 0 ? AxisList() : cuts_[cut].axes[d]);
    place->second = Number(mapped);
  }
  return place->second;
}

int64_t CutStore::Cost(UseCosts& costs, int kind, int tensor, int node) {
  Known& known = kinds_[kind];
  const uint64_t key = uint64_t{static_cast<uint32_t>(tensor)} << 32 | static_cast<uint32_t>(node);
  auto [place, is_new] = known.costs.emplace(key, 0);
  if (is_new) {
    auto [named, is_first] = known.by_names.emplace(Renamed(cuts_[tensor], cuts_[node]), 0);
    if (is_first) {
      int64_t steps = 0;
      named->second = costs.Exact(cuts_[tensor], cuts_[node], &steps);
      steps_.fetch_add(steps, std::memory_order_relaxed);
      pairs_.fetch_add(1, std::memory_order_relaxed);
    }
    place->second = named->second;
  }
  return place->second;
}

std::string CutStore::Renamed(const Cut& tensor, const Cut& node) const {
  std::string key;
  std::vector<char> name(mesh_.axes.size(), -1);
  std::map<int, char> next;  // by size
  for (const Cut* cut : {&tensor, &node}) {
    for (const AxisList& axes : cut->axes) {
      for (uint8_t axis : axes) {
        const int size = mesh_.axes[axis].size;
        if (name[axis] < 0) name[axis] = next[size]++;
        key.append(reinterpret_cast<const char*>(&size), sizeof(size));
        key += name[axis];
      }
      key += '\xff';
    }
  }
  return key;
}

}  // namespace yuba::search
