// Who adds up the partials of different ranks, and in which order (--sums).
#ifndef YUBA_RUNTIME_SUMS_H_
#define YUBA_RUNTIME_SUMS_H_

namespace yuba {

enum class Sums {
  kOrdered,     // the run time, in the order of the partials: the same bits on every back end
  kRepeatable,  // a library, round a ring: the same bits in each run on the same machine
  kFast         // a library as it chooses, by a switch that adds up where there is one
};

constexpr const char* Name(Sums sums) {
  return sums == Sums::kOrdered ? "ordered" : sums == Sums::kRepeatable ? "repeatable" : "fast";
}

}  // namespace yuba

#endif  // YUBA_RUNTIME_SUMS_H_
