// What may be cut of a tensor or of a node, and which cuts are legal.
#ifndef YUBA_SEARCH_CUT_SPACE_H_
#define YUBA_SEARCH_CUT_SPACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/core.h"
#include "opsemantics/placement.h"

namespace yuba {

// What there is to cut: the flat dimensions of a tensor or the indices of a definition. An extent of
// n can be cut into P parts only if n >= P; `cuttable` is false where an index must stay whole.
struct CutSpace {
  std::vector<int64_t> extents;
  std::vector<bool> cuttable;
};
CutSpace TensorCuts(const TensorType& type);
CutSpace NodeCuts(const Definition& definition);

// The cut that uses no axis.
Cut WholeCut(const CutSpace& space);

// "" if `cut` cuts only what can be cut, each axis used at most once, else what is wrong with it.
std::string WhyImpossible(const CutSpace& space, const Mesh& mesh, const Cut& cut);

// The same, and besides no axis may be left out that fits somewhere.
std::string WhyIllegal(const CutSpace& space, const Mesh& mesh, const Cut& cut);

}  // namespace yuba

#endif  // YUBA_SEARCH_CUT_SPACE_H_
