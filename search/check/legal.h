// All choices that tensors and nodes may have, as the checker lists them, and what they become when
// equal mesh axes are renamed.
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

using Renamed = std::vector<std::vector<int>>;  // [renaming][cut]; no renaming first

struct ChoiceList {
  std::vector<Choice> choices;
  std::vector<int> least;  // those that are the least of all that they can be renamed to
  std::shared_ptr<const Renamed> renamed;
  // By choice: its grid (into how many parts each extent is cut), numbered in lexicographic order.
  std::shared_ptr<const std::vector<int>> grids;
  std::shared_ptr<const std::vector<int>> listed;  // in lexicographic order of their lists of axes
};

// The choices whose grid is marked, by its number, in `grids`; cuts and grids are numbered anew.
ChoiceList GridsWithin(const ChoiceList& all, const std::vector<bool>& grids);

class ChoiceLists {
 public:
  // With `level` the axes of each list are in the order of the mesh, and none may be renamed.
  ChoiceLists(const Mesh& mesh, bool level);

  // All choices of these extents, of which one that is 1 is never cut. `partial`: axes may be left
  // out that would fit. Extents of as many elements as there are devices, or more, have equal cuts,
  // and one list. An error that says `name` where there are too many.
  absl::StatusOr<const ChoiceList*> Of(const std::string& name, std::vector<int64_t> extents,
                                       bool partial);

 private:
  const Mesh& mesh_;
  const bool level_;
  std::vector<std::vector<uint8_t>> renamings_;
  std::map<std::pair<std::vector<int64_t>, bool>, ChoiceList> lists_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_LEGAL_H_
