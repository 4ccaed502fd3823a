// Numbers and boxes that differ between devices, as the tables of a program;
// runtime/program/tables.h reads them back. A program says each bound once, as a table over the
// mesh axes on which it depends, so its size grows with the number of different bounds and not with
// the number of devices.
//
// Example: on a mesh a=2 b=2, the begins {0, 0, 16, 16} of devices 0 to 3 depend on a alone and
// become axes {a}, values {0, 16}; {5, 5, 5, 5} becomes no axes, values {5}.
#ifndef YUBA_COMPILER_SPMD_TABLES_H_
#define YUBA_COMPILER_SPMD_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/sharding/sharding.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Arguments are indexed by device, one entry for each device of the mesh. The table is the
// smallest: over the axes on which its values depend, and no others.
program::Bound BoundTable(const Mesh& mesh, const std::vector<int64_t>& values);
program::Range RangeTable(const Mesh& mesh, const std::vector<Interval>& intervals);
// Boxes of one rank. An empty box is written as [0, 0) in every dimension.
program::Box BoxTable(const Mesh& mesh, const std::vector<Box>& boxes);

// The definition that definition `number` of `function` computes for a node with `definition`: the
// definition itself, or, where it reads partials, the definition with an index that numbers the
// groups, as many as the function says.
Definition ComputedBy(const program::Function& function, int number, const Definition& definition);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_TABLES_H_
