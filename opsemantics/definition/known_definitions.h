// Numbers of definitions: equal ones have one number, so that what depends on a definition alone is
// found once for all nodes of a model that repeats.
//
// Example: KnownDefinitions known; known.NumberOf(*a) == known.NumberOf(*b) where *a == *b.
#ifndef YUBA_OPSEMANTICS_DEFINITION_KNOWN_DEFINITIONS_H_
#define YUBA_OPSEMANTICS_DEFINITION_KNOWN_DEFINITIONS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "opsemantics/definition/definition.h"

namespace yuba {

class KnownDefinitions {
 public:
  // 0, 1, ... in the order in which they are first asked for. The definition must outlive this.
  int NumberOf(const Definition& definition);

 private:
  std::map<const Definition*, int> by_address_;
  // One of each number, by the extents of result and indices.
  std::map<std::vector<int64_t>, std::vector<const Definition*>> by_extents_;
  int count_ = 0;
};

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_DEFINITION_KNOWN_DEFINITIONS_H_
