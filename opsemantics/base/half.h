// f16 (IEEE 754 binary16) and bf16 (the upper half of an f32) as their 16 bits. To f32 the
// conversion is exact; from f32 it rounds to nearest, ties to even, and a NaN stays a NaN. All
// functions are constant expressions, so that code for GPUs may call them too.
#ifndef YUBA_OPSEMANTICS_BASE_HALF_H_
#define YUBA_OPSEMANTICS_BASE_HALF_H_

#include <cstdint>

namespace yuba {

constexpr uint32_t BitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }

constexpr float FloatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }

constexpr float FromBF16(uint16_t bits) { return FloatOf(static_cast<uint32_t>(bits) << 16); }

constexpr uint16_t ToBF16(float value) {
  const uint32_t bits = BitsOf(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);  // a NaN stays one
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

constexpr float FromF16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return FloatOf(BitsOf(magnitude) | sign);
  }
  if (exponent == 0x1f) return FloatOf(sign | 0x7f800000 | fraction << 13);
  return FloatOf(sign | (exponent + 112) << 23 | fraction << 13);
}

constexpr uint16_t ToF16(float value) {
  const uint32_t bits = BitsOf(value), magnitude = bits & 0x7fffffff;
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);  // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and above round to infinity
  if (magnitude < 0x38800000) {                       // below 2^-14: a multiple of 2^-24
    // Adding 0.5 leaves that multiple, rounded by the hardware, in the low bits.
    return sign | static_cast<uint16_t>(BitsOf(FloatOf(magnitude) + 0.5f) - BitsOf(0.5f));
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded - 0x38000000) >> 13);
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_HALF_H_
