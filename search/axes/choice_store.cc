#include "search/axes/choice_store.h"

#include <algorithm>
#include <map>

#include "search/solve/pairwise.h"

namespace yuba::search {

int ChoiceStore::Number(const Choice& choice) {
  auto [place, is_new] = numbers_.emplace(choice.axes, static_cast<int>(choices_.size()));
  if (is_new) choices_.push_back(choice);
  return place->second;
}

int ChoiceStore::NumberOfDims(const std::vector<int>& dims) {
  auto found = std::find(dims_.begin(), dims_.end(), dims);
  if (found == dims_.end()) found = dims_.insert(dims_.end(), dims);
  return static_cast<int>(found - dims_.begin());
}

int ChoiceStore::Mapped(int choice, int dims) {
  auto [place, is_new] = mapped_.emplace(uint64_t{static_cast<uint32_t>(choice)} << 32 | dims, 0);
  if (is_new) {
    Choice mapped;
    for (int d : dims_[dims]) mapped.axes.push_back(d < 0 ? AxisList() : choices_[choice].axes[d]);
    place->second = Number(mapped);
  }
  return place->second;
}

int64_t ChoiceStore::Cost(UseCosts& costs, int kind, int tensor, int node) {
  Known& known = kinds_[kind];
  const uint64_t key = uint64_t{static_cast<uint32_t>(tensor)} << 32 | static_cast<uint32_t>(node);
  auto [place, is_new] = known.costs.emplace(key, 0);
  if (is_new) {
    auto [named, is_first] = known.by_names.emplace(Renamed(choices_[tensor], choices_[node]), 0);
    if (is_first) {
      int64_t steps = 0;
      const int64_t bytes = costs.Exact(choices_[tensor], choices_[node], &steps);
      named->second = bytes < kForbidden ? std::min(bytes, most_) : bytes;
      steps_.fetch_add(steps, std::memory_order_relaxed);
      pairs_.fetch_add(1, std::memory_order_relaxed);
    }
    place->second = named->second;
  }
  return place->second;
}

int64_t ChoiceStore::Cost(KernelCosts& kernels, int kind, int node) {
  const auto [place, is_new] = kinds_[kind].kernels.emplace(node, 0);
  if (is_new) place->second = kernels.Of(GridOf(choices_[node], mesh_));
  return place->second;
}

std::string ChoiceStore::Renamed(const Choice& tensor, const Choice& node) const {
  std::string key;
  std::vector<int8_t> name(mesh_.axes.size(), -1);  // not char, which may have no sign
  std::map<AxisClass, int8_t> next;
  for (const Choice* choice : {&tensor, &node}) {
    for (const AxisList& axes : choice->axes) {
      for (uint8_t axis : axes) {
        const AxisClass of = mesh_.axes[axis].axis_class();
        if (name[axis] < 0) name[axis] = next[of]++;
        key.append(reinterpret_cast<const char*>(&of), sizeof(of));
        key += static_cast<char>(name[axis]);
      }
      key += '\xff';
    }
  }
  return key;
}

}  // namespace yuba::search
