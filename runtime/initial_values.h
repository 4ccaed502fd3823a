// Values for inputs and parameters that no file gives: derived from a seed, the name and the
// position in the whole tensor, so that every cut and every number of devices gets the same ones.
#ifndef YUBA_RUNTIME_INITIAL_VALUES_H_
#define YUBA_RUNTIME_INITIAL_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/base/element_type.h"

namespace yuba::runtime {

// What kind of values a tensor wants. Float parameters of rank 0 and 1 (scales, variances) are in
// (0.5, 1.5); those of higher rank are centred and as small as keeps the size of activations over
// many layers. Float inputs are in (-1, 1), integers in [0, 4), bools either.
struct ValueRule {
  ElementType type = ElementType::kF32;
  double low = 0, width = 1;  // floats: low + width * u, u in [0, 1)
  bool hash = false;          // floats are 64 bits of the position's hash
};
ValueRule RuleFor(ElementType type, const std::vector<int64_t>& shape, bool parameter, bool hash);

uint64_t SeedOf(const std::string& name, uint64_t seed);

// The elements of `box` of a tensor with dimensions `dims`, row-major over the box.
std::string RandomElements(const ValueRule& rule, uint64_t seed, const std::vector<int64_t>& dims,
                           const Box& box);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_INITIAL_VALUES_H_
