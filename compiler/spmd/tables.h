// Numbers and boxes that differ between devices, as the tables of a program, and back.
#ifndef YUBA_COMPILER_SPMD_TABLES_H_
#define YUBA_COMPILER_SPMD_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/sharding/sharding.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

Mesh MeshOf(const program::Program& program);

// The smallest table with these values: over the axes on which they depend. values: [device].
program::Bound BoundTable(const Mesh& mesh, const std::vector<int64_t>& values);
program::Range RangeTable(const Mesh& mesh, const std::vector<Interval>& intervals);
// boxes: [device], all of one rank. Empty boxes are written as [0, 0) in every dimension.
program::Box BoxTable(const Mesh& mesh, const std::vector<Box>& boxes);

int64_t ValueOn(const Mesh& mesh, const program::Bound& bound, int device);
Interval IntervalOn(const Mesh& mesh, const program::Range& range, int device);
Box BoxOn(const Mesh& mesh, const program::Box& box, int device);
std::vector<Box> BoxesOn(const Mesh& mesh, const program::Box& box);  // [device]

// Whether every bound is a table over axes of the mesh with as many values as coordinates, as the
// functions above need.
bool IsWellFormed(const Mesh& mesh, const program::Bound& bound);
bool IsWellFormed(const Mesh& mesh, const program::Box& box);

// What `function` computes of a node's definition: an accumulator in as many groups as it has.
Definition ComputedBy(const program::Function& function, const Definition& definition);

// Bytes of an element in a buffer of `type`: floats are 8 bytes in hash arithmetic.
int64_t ElementBytes(program::ElementType type, bool hash_arithmetic);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_TABLES_H_
