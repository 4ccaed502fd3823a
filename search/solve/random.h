// The generator of random numbers of all searches (SplitMix64: Steele, Lea and Flood, "Fast
// splittable pseudorandom number generators", 2014). Equal seeds give equal numbers on every
// machine, which the distributions of the standard library do not promise.
#ifndef YUBA_SEARCH_SOLVE_RANDOM_H_
#define YUBA_SEARCH_SOLVE_RANDOM_H_

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace yuba::search {

class Random {
 public:
  explicit Random(uint64_t seed = 1) : state_(seed) {}

  // One of 0, ..., count - 1.
  template <typename Count>
  Count Below(Count count) {
    return static_cast<Count>(Next() % static_cast<uint64_t>(count));
  }
  double Share() { return (static_cast<double>(Next() >> 11) + 0.5) * 0x1p-53; }  // in (0, 1)
  // Of the normal distribution with mean 0 and deviation 1 (Box and Muller, 1958).
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(Share()));
    return radius * std::cos(6.283185307179586 * Share());
  }

 private:
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_RANDOM_H_
