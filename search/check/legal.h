// All legal choices of a tensor or node, as the checker lists them, and what they become when mesh
// axes of one class are renamed. On a mesh a b of two axes of size 2 and of one kind, a tensor [32,
// 64] has 6: [32/ab, 64], [32/ba, 64], [32/a, 64/b], [32/b, 64/a], [32, 64/ab], [32, 64/ba]; 3
// grids.
#ifndef YUBA_SEARCH_CHECK_LEGAL_H_
#define YUBA_SEARCH_CHECK_LEGAL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/choice.h"

namespace yuba::search {

using Renamed = std::vector<std::vector<int>>;  // [renaming][choice]; the first renames nothing

struct ChoiceList {
  std::vector<Choice> choices;
  // Of choices that can be renamed to one another: the one of the least number.
  std::vector<int> least;
  std::shared_ptr<const Renamed> renamed;
  std::shared_ptr<const std::vector<int>> listed;  // choices in lexicographic order of their axes
};

// The choices that are marked, at least one. With a choice all that it can be renamed to are
// marked. Choices are numbered anew from 0.
ChoiceList MarkedOf(const ChoiceList& all, const std::vector<bool>& marked);

// Makes the lists, one for all elements of equal extents.
class ChoiceLists {
 public:
  // With `nests_by_level` the axes of an extent come in the order of the mesh, and no axis can be
  // renamed; else axes of equal `classes`, [axis], can. The mesh must outlive this.
  ChoiceLists(const Mesh& mesh, bool nests_by_level, const std::vector<int>& classes);

  // All choices of these extents; an extent of 1 is never cut. `may_replicate`: axes that fit may
  // be left out. Extents at least as long as there are devices are cut alike, so they share one
  // list. An error that says `name` where there are more than 2^14 choices, or more than 2^24 boxes
  // of them. The list lives as long as this.
  absl::StatusOr<const ChoiceList*> Of(const std::string& name, std::vector<int64_t> extents,
                                       bool may_replicate);

 private:
  const Mesh& mesh_;
  const bool nests_by_level_;
  std::vector<std::vector<uint8_t>> renamings_;
  std::map<std::pair<std::vector<int64_t>, bool>, ChoiceList> lists_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_LEGAL_H_
