// Numbers and boxes that differ between devices, as the tables of a program;
// runtime/program/tables.h reads them back.
#ifndef YUBA_COMPILER_SPMD_TABLES_H_
#define YUBA_COMPILER_SPMD_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/sharding/sharding.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// The smallest table with these values: over the axes on which they depend. values: [device].
program::Bound BoundTable(const Mesh& mesh, const std::vector<int64_t>& values);
program::Range RangeTable(const Mesh& mesh, const std::vector<Interval>& intervals);
// boxes: [device], all of one rank. Empty boxes are written as [0, 0) in every dimension.
program::Box BoxTable(const Mesh& mesh, const std::vector<Box>& boxes);

// What `function` computes of a node's definition: an accumulator in as many groups as it has.
Definition ComputedBy(const program::Function& function, const Definition& definition);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_TABLES_H_
