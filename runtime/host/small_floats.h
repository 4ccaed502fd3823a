// bf16 and f16 to f32 and back, by the run of elements: how contractions of small floats go through
// a library that multiplies f32. Exact to f32; from f32 rounded as in opsemantics/base/half.h, NaNs
// stay NaNs. Uses AVX2 and F16C where this processor has them; the elements are equal without.
#ifndef YUBA_RUNTIME_HOST_SMALL_FLOATS_H_
#define YUBA_RUNTIME_HOST_SMALL_FLOATS_H_

#include <cstdint>

#include "opsemantics/base/element_type.h"

namespace yuba::runtime {

// `count` elements of `type` (f32, bf16 or f16) from `from` on, as floats. The two do not overlap.
void ToFloats(ElementType type, const void* from, int64_t count, float* to);
// The other way.
void FromFloats(ElementType type, const float* from, int64_t count, void* to);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_SMALL_FLOATS_H_
