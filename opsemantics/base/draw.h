// The value of a tensor before training: not its elements, but how they are drawn. An element is a
// function of the seed and of its place in the whole tensor, so that devices draw their shards
// alone, and a tensor of any size takes a few bytes in a file.
//
// Example: {kNormal, 0, 0.02, 7} is what GPT-2 begins with, by the seed 7; {kUniform, 1, 1} is a
// tensor of ones.
#ifndef YUBA_OPSEMANTICS_BASE_DRAW_H_
#define YUBA_OPSEMANTICS_BASE_DRAW_H_

#include <cstdint>

namespace yuba {

struct Draw {
  enum Distribution { kUniform, kNormal };
  Distribution distribution = kUniform;
  // kUniform: the ends; where they are equal, so are all elements. kNormal: mean and deviation.
  double first = 0, second = 0;
  uint32_t seed = 0;  // tensors of other seeds have other elements
  friend bool operator==(const Draw& a, const Draw& b) {
    return a.distribution == b.distribution && a.first == b.first && a.second == b.second &&
           a.seed == b.seed;
  }
};

// The element at this place of the tensor, row-major; in double, whatever type the tensor has.
double DrawnElement(const Draw& draw, uint64_t element);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_DRAW_H_
