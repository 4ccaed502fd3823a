// What the definitions of a use say about the factors of its slots' flat dimensions ("leaves").
#ifndef YUBA_COMPILER_IMPORT_FACTORS_RELATIONS_H_
#define YUBA_COMPILER_IMPORT_FACTORS_RELATIONS_H_

#include <vector>

#include "opsemantics/elaborate/elaborate.h"

namespace yuba::onnx {

struct LeafRelations {
  std::vector<std::vector<int>>
      classes;                   // [slot][flat dim] -> class; equal: one index runs along both
  std::vector<bool> whole;       // for each class: it has no factors inside
  std::vector<int64_t> extents;  // for each class
};

LeafRelations RelateLeaves(const Instance& instance);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FACTORS_RELATIONS_H_
