// A stable hash of a text: the same bits on every platform and in every version of the compiler, so
// that it may decide orders and stand in files. It is no protection against forgery.
#ifndef YUBA_OPSEMANTICS_BASE_STABLE_HASH_H_
#define YUBA_OPSEMANTICS_BASE_STABLE_HASH_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace yuba {

// FNV-1a (Fowler, Noll, Vo) with a final mix, so that texts that are nearly alike differ in all
// bits.
inline uint64_t StableHash(absl::string_view text, uint64_t seed = 0) {
  uint64_t hash = 0xcbf29ce484222325 ^ (seed * 0x9e3779b97f4a7c15);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
  return hash ^ (hash >> 32);
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_STABLE_HASH_H_
