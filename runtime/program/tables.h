// What a program's tables say on one device: the one place that evaluates them.
//
// A Bound is a number for each device: values[digits of the device's coordinates on `axes`]. On the
// mesh a=2 b=2 the bound {axes: [1], values: [0, 8]} is 0 on devices 0 and 2, and 8 on 1 and 3.
// All functions but IsWellFormed need tables that are well-formed (validate.h checks programs).
#ifndef YUBA_RUNTIME_PROGRAM_TABLES_H_
#define YUBA_RUNTIME_PROGRAM_TABLES_H_

#include <cstdint>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/base/mesh.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

// Limits of a valid program: devices of its mesh, and executed instructions of one step.
constexpr int kMostDevices = 1 << 16;
constexpr int64_t kMostSteps = int64_t{1} << 32;
// The largest number of elements or bytes that a size may be: sums of two such still fit 64 bits.
constexpr int64_t kMostBytes = int64_t{1} << 60;

Mesh MeshOf(const Program& program);

int64_t ValueOn(const Mesh& mesh, const Bound& bound, int device);
// Empty intervals come back as [begin, begin).
Interval IntervalOn(const Mesh& mesh, const Range& range, int device);
yuba::Box BoxOn(const Mesh& mesh, const Box& box, int device);
std::vector<yuba::Box> BoxesOn(const Mesh& mesh, const Box& box);  // [device]

// Whether every bound is a table over different axes of the mesh, with one value for each of their
// coordinates.
bool IsWellFormed(const Mesh& mesh, const Bound& bound);
bool IsWellFormed(const Mesh& mesh, const Box& box);

// Bytes of an element of a buffer: 8 for floats in hash arithmetic, elsewhere its type's.
int64_t ElementBytes(const Program& program, const Buffer& buffer);

// The product of `factors`, or -1 where one is negative or the product is above kMostBytes.
int64_t CheckedProduct(const google::protobuf::RepeatedField<int64_t>& factors);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_TABLES_H_
