#include "search/cut_store.h"

#include <algorithm>
#include <map>

#include "opsemantics/base/check.h"

namespace yuba {

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
  YUBA_CHECK(tensor < 1 << 24 && node < 1 << 24 && kind < 1 << 16);
  const uint64_t key = static_cast<uint64_t>(kind) << 48 | static_cast<uint64_t>(tensor) << 24 |
                       static_cast<uint64_t>(node);
  auto [place, is_new] = costs_.emplace(key, 0);
  if (is_new) {
    auto [named, is_first] = by_names_.emplace(Renamed(kind, cuts_[tensor], cuts_[node]), 0);
    if (is_first) named->second = costs.Exact(cuts_[tensor], cuts_[node], &steps_);
    place->second = named->second;
  }
  return place->second;
}

std::string CutStore::Renamed(int kind, const Cut& tensor, const Cut& node) const {
  std::string key(reinterpret_cast<const char*>(&kind), sizeof(kind));
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

}  // namespace yuba
