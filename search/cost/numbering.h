// Numbers equal things alike: 0, 1, ... in the order in which different ones come.
//
// Example: Of("x"), Of("y"), Of("x") are 0, 1, 0; then size() is 2 and at(1) is "y".
#ifndef YUBA_SEARCH_COST_NUMBERING_H_
#define YUBA_SEARCH_COST_NUMBERING_H_

#include <vector>

#include "absl/container/flat_hash_map.h"

namespace yuba::search {

template <typename Thing, typename Map = absl::flat_hash_map<Thing, int>>
class Numbering {
 public:
  int Of(const Thing& thing) {
    const auto [place, is_new] = numbers_.emplace(thing, size());
    if (is_new) things_.push_back(thing);
    return place->second;
  }
  int size() const { return static_cast<int>(things_.size()); }
  const Thing& at(int number) const { return things_[number]; }
  const std::vector<Thing>& things() const { return things_; }  // [number]

 private:
  Map numbers_;
  std::vector<Thing> things_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_NUMBERING_H_
