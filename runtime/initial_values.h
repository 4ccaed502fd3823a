// Values for inputs and parameters that no file gives. Each element is derived from a seed, the
// tensor's name and the element's position in the whole tensor, so that every plan and every number
// of devices gets the same values, and each device makes its own shard alone.
#ifndef YUBA_RUNTIME_INITIAL_VALUES_H_
#define YUBA_RUNTIME_INITIAL_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/base/dim_order.h"
#include "opsemantics/base/element_type.h"

namespace yuba::runtime {

// How the values of a tensor are distributed. Float parameters of rank 0 and 1 (scales, variances)
// are in (0.5, 1.5). Float parameters of higher rank are centred, with variance 1 / (product of all
// dimensions but the first), so that activations keep their size over many layers. Float inputs are
// in (-1, 1), integers and bools 0 or 1; in hash arithmetic integers are in [0, 4).
struct ValueRule {
  ElementType type = ElementType::kF32;
  double low = 0, width = 1;  // floats: low + width * u, u in [0, 1)
  bool hash = false;          // floats are 64 bits of the position's hash
};
// `parameter` is false for inputs; `hash` means hash arithmetic.
ValueRule RuleFor(ElementType type, const std::vector<int64_t>& shape, bool parameter, bool hash);

// The seed of one tensor, from its name and the seed of the run.
uint64_t SeedOf(const std::string& name, uint64_t seed);

// The bytes of the elements in `box` of a tensor with dimensions `dims`, in memory in the order
// `order` of the box's dimensions.
std::string RandomElements(const ValueRule& rule, uint64_t seed, const std::vector<int64_t>& dims,
                           const Box& box, const DimOrder& order = {});

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_INITIAL_VALUES_H_
