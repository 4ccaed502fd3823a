// Hash arithmetic: a second meaning of all operators, in which every element of a float tensor is a
// number of Z/2^64 instead of a float. Sums and products wrap, so every reducer is exactly
// associative and commutative: the results of whole graphs are equal bit for bit under any
// sharding, order and number of devices, and a test needs no tolerance. Other functions mix their
// arguments, so that a program that computes something else gives other numbers. The interpreter
// uses the functions of this file; generated kernels do the same operations in the same order. All
// values are 64-bit, all shifts are logical, all arithmetic wraps:
//
//   add a+b   sub a-b   mul a*b   neg -a   sq a*a        the ring's own
//   div       a * HashMix(b, kHashDivide)                so a/b + c/b = (a+c)/b
//   max, min, lt, le      compare HashRank, unsigned (opsemantics/base/hash_order.h)
//   eq, ne                compare the elements
//   others of one argument, as exp:
//                         HashMix(a, HashSalt(function)): odd, the same for every element type
//   others of two, as pow:
//                         HashMix(HashMix(a, HashSalt(function)) + b, HashSalt(function))
//   random                HashOfRandom (philox.h): 64 bits of the block that its float is made of
//   literal               HashOf(its value rounded to its type); integer -> float: the same 64 bits
//   float -> float        the identity; float -> integer: the same 64 bits, cast as integers are
//   float -> bool         element != 0
//   label(v, n, ignored)  -1 where v is `ignored`; else v mod (n + 1), of which n becomes -1
//   wrap(v, n)            v mod n, in [0, n), so that indices from hashes stay in range; 0 where
//                         n <= 0
//
// Integer tensors stay integers. Identities: sum 0, prod 1, max kHashMinusInfinity, min
// kHashPlusInfinity, pick 0 (a pick adds).
#ifndef YUBA_OPSEMANTICS_ORACLE_HASH_ARITHMETIC_H_
#define YUBA_OPSEMANTICS_ORACLE_HASH_ARITHMETIC_H_

#include <cstdint>

#include "opsemantics/base/hash_order.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// An odd number for each function.
constexpr uint64_t HashSalt(Function function) {
  return (static_cast<uint64_t>(function) + 1) * 0xbf58476d1ce4e5b9 | 1;
}
constexpr uint64_t kHashDivide = HashSalt(Function::kDiv);

constexpr uint64_t HashMix2(uint64_t a, uint64_t b, uint64_t salt) {
  return HashMix(HashMix(a, salt) + b, salt);
}

constexpr uint64_t HashDivide(uint64_t a, uint64_t b) { return a * HashMix(b, kHashDivide); }
constexpr uint64_t HashMax(uint64_t a, uint64_t b) { return HashRank(a) < HashRank(b) ? b : a; }
constexpr uint64_t HashMin(uint64_t a, uint64_t b) { return HashRank(b) < HashRank(a) ? b : a; }

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ORACLE_HASH_ARITHMETIC_H_
