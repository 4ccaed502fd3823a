#include "runtime/host/small_floats.h"

#include <cstring>

#include "opsemantics/base/half.h"

#ifdef __x86_64__
#include <immintrin.h>
#define YUBA_FOR_AVX2 __attribute__((target("avx2,f16c")))
#endif

namespace yuba::runtime {
namespace {

constexpr int64_t kLanes = 8;

#ifdef __x86_64__
bool HasVectors() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return has;
}

YUBA_FOR_AVX2 void WidenVectors(bool bf16, const uint16_t* from, int64_t count, float* to) {
  for (int64_t i = 0; i + kLanes <= count; i += kLanes) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i,
                     bf16 ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16))
                          : _mm256_cvtph_ps(bits));
  }
}

// The upper halves of eight floats, rounded to nearest, ties to even.
YUBA_FOR_AVX2 __m128i ToBF16Vector(__m256 values) {
  const __m256i bits = _mm256_castps_si256(values);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
  const __m256i upper = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
}

YUBA_FOR_AVX2 void NarrowVectors(bool bf16, const float* from, int64_t count, uint16_t* to) {
  for (int64_t i = 0; i + kLanes <= count; i += kLanes) {
    const __m256 values = _mm256_loadu_ps(from + i);
    const __m128i bits =
        bf16 ? ToBF16Vector(values) : _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
}
#else
bool HasVectors() { return false; }
void WidenVectors(bool, const uint16_t*, int64_t, float*) {}
void NarrowVectors(bool, const float*, int64_t, uint16_t*) {}
#endif

}  // namespace

void ToFloats(ElementType type, const void* from, int64_t count, float* to) {
  if (type == ElementType::kF32) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  const bool bf16 = type == ElementType::kBF16;
  const uint16_t* const halves = static_cast<const uint16_t*>(from);
  if (HasVectors()) WidenVectors(bf16, halves, count, to);
  for (int64_t i = HasVectors() ? count / kLanes * kLanes : 0; i < count; ++i) {
    to[i] = bf16 ? FromBF16(halves[i]) : FromF16(halves[i]);
  }
}

void FromFloats(ElementType type, const float* from, int64_t count, void* to) {
  if (type == ElementType::kF32) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  const bool bf16 = type == ElementType::kBF16;
  uint16_t* const halves = static_cast<uint16_t*>(to);
  if (HasVectors()) NarrowVectors(bf16, from, count, halves);
  for (int64_t i = HasVectors() ? count / kLanes * kLanes : 0; i < count; ++i) {
    halves[i] = bf16 ? ToBF16(from[i]) : ToF16(from[i]);
  }
}

}  // namespace yuba::runtime
