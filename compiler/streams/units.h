// Instructions that begin and end together: each is a unit of one stream.
#ifndef YUBA_COMPILER_STREAMS_UNITS_H_
#define YUBA_COMPILER_STREAMS_UNITS_H_

#include <vector>

#include "runtime/program/program.pb.h"

namespace yuba::compiler {

struct Unit {
  int begin = 0, end = 0;  // instructions [begin, end)
};

// In the program's order, all instructions. What one call stands for is a unit (attention, joint
// calls), and a sum with the gather of its result right behind it, which a library may do at once.
std::vector<Unit> UnitsOf(const program::Program& program);

// The same, where exchanges that join the one before them are a unit with it.
std::vector<Unit> GroupedUnitsOf(const program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_STREAMS_UNITS_H_
