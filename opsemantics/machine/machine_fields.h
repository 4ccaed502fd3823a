// Fields of machine files: constants with their sources.
#ifndef YUBA_OPSEMANTICS_MACHINE_MACHINE_FIELDS_H_
#define YUBA_OPSEMANTICS_MACHINE_MACHINE_FIELDS_H_

#include "opsemantics/base/json_reader.h"

namespace yuba {

// What a number counts. The limits are wide; within them all sums of seconds are finite.
struct Quantity {
  const char* unit;
  double least, most;
};
inline constexpr Quantity kRate = {"operations a second", 1, 1e21};
inline constexpr Quantity kBandwidth = {"bytes a second", 1, 1e21};
inline constexpr Quantity kSeconds = {"seconds", 0, 1e4};
inline constexpr Quantity kResults = {"results", 0, 1e15};
inline constexpr Quantity kShare = {"a share of the device's", 1e-6, 1e3};
inline constexpr Quantity kOperations = {"operations", 0, 1e12};
inline constexpr Quantity kDollars = {"dollars an hour, 0: not known", 0, 1e6};

inline double Read(const JsonReader& reader, const Quantity& quantity) {
  return reader.Number(quantity.least, quantity.most, quantity.unit);
}

// An error where "source" is missing or empty.
void ReadSource(const JsonReader& constant);

// The value of a constant that says where it is from: {"value": ..., "source": "..."}.
JsonReader ValueOf(const JsonReader& constant);

inline double ReadConstant(const JsonReader& constant, const Quantity& quantity) {
  return Read(ValueOf(constant), quantity);
}

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_MACHINE_FIELDS_H_
