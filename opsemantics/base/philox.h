// Random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011), a function of a key and a counter and of nothing else. So a number is the
// same wherever and whenever it is computed, and needs no state but what it is a function of.
//
// Each number has a block of its own, of which it uses one word (in hash arithmetic two): so what
// stands at one element never depends on which elements are computed beside it. Generated kernels
// do the same operations (compiler/kernels/random_functions.cc).
#ifndef YUBA_OPSEMANTICS_BASE_PHILOX_H_
#define YUBA_OPSEMANTICS_BASE_PHILOX_H_

#include <array>
#include <cstdint>

namespace yuba {

using PhiloxBlock = std::array<uint32_t, 4>;

constexpr int kPhiloxRounds = 10;
constexpr uint64_t kPhiloxMultiplier0 = 0xd2511f53, kPhiloxMultiplier1 = 0xcd9e8d57;
constexpr uint32_t kPhiloxWeyl0 = 0x9e3779b9, kPhiloxWeyl1 = 0xbb67ae85;

// The block of a key and a counter. The key's words are the halves of `key`, low half first; the
// counter's are those of `element`, then those of `count`.
constexpr PhiloxBlock Philox(uint64_t key, uint64_t count, uint64_t element) {
  uint32_t key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  PhiloxBlock c = {static_cast<uint32_t>(element), static_cast<uint32_t>(element >> 32),
                   static_cast<uint32_t>(count), static_cast<uint32_t>(count >> 32)};
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t product0 = kPhiloxMultiplier0 * c[0], product1 = kPhiloxMultiplier1 * c[2];
    c = {static_cast<uint32_t>(product1 >> 32) ^ c[1] ^ key0, static_cast<uint32_t>(product1),
         static_cast<uint32_t>(product0 >> 32) ^ c[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  return c;
}

// The number of a block: the upper 24 bits of its first word, over 2^24. It is a float in [0, 1).
constexpr double UniformOf(const PhiloxBlock& block) {
  return static_cast<double>(block[0] >> 8) * 0x1p-24;
}

// The same in hash arithmetic: the first two words, low word first.
constexpr uint64_t HashOfRandom(const PhiloxBlock& block) {
  return block[0] | static_cast<uint64_t>(block[1]) << 32;
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_PHILOX_H_
