// What the definitions of one use say about the factors of its leaves, the flat dimensions of its
// slots: which leaves must have the same factors, and which must have none.
//
// Example: in y[i, j] = sum(k) x[i, k] * w[k, j] the second leaf of x and the first of w are one
// class, since index k runs along both. In y[i] = x[i + 1] the leaf of x is whole: i + 1 runs along
// the dimension as one, so it cannot be split into factors. Nor can what an opaque function sees
// whole.
#ifndef YUBA_COMPILER_IMPORT_FACTORS_RELATIONS_H_
#define YUBA_COMPILER_IMPORT_FACTORS_RELATIONS_H_

#include <vector>

#include "opsemantics/elaborate/elaborate.h"

namespace yuba::onnx {

struct LeafRelations {
  // [slot][flat dimension]: the leaf's class. Leaves of one class have the same factors, because an
  // index runs along both.
  std::vector<std::vector<int>> classes;
  std::vector<bool> whole;       // [class]: it must not be split into factors
  std::vector<int64_t> extents;  // [class]
};

LeafRelations RelateLeaves(const Instance& instance);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_FACTORS_RELATIONS_H_
