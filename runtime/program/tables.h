// What a program's tables say on one device: the one place that evaluates them.
//
// A Bound is a number for each device: values[digits of the device's coordinates on `axes`]. On the
// mesh a=2 b=2 the bound {axes: [1], values: [0, 8]} is 0 on devices 0 and 2, and 8 on 1 and 3.
// All functions but FaultOf need tables that are well-formed (validate.h checks programs).
#ifndef YUBA_RUNTIME_PROGRAM_TABLES_H_
#define YUBA_RUNTIME_PROGRAM_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/base/box.h"
#include "opsemantics/base/mesh.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

// Devices of the mesh of a valid program, at most.
constexpr int kMostDevices = 1 << 16;
// The largest number of elements or bytes that a size may be: sums of two such still fit 64 bits.
constexpr int64_t kMostBytes = int64_t{1} << 60;

Mesh MeshOf(const Program& program);

// All functions that return [device] take time by devices, not by devices times axes: use them
// where all devices are asked for.
int64_t ValueOn(const Mesh& mesh, const Bound& bound, int device);
std::vector<int64_t> ValuesOn(const Mesh& mesh, const Bound& bound);  // [device]
// Empty intervals come back as [begin, begin).
Interval IntervalOn(const Mesh& mesh, const Range& range, int device);
std::vector<Interval> IntervalsOn(const Mesh& mesh, const Range& range);  // [device]
yuba::Box BoxOn(const Mesh& mesh, const Box& box, int device);
std::vector<yuba::Box> BoxesOn(const Mesh& mesh, const Box& box);  // [device]

// The devices whose coordinates are 0 on all axes that no bound of the box depends on, ascending:
// every device has the box of one of these. On the mesh a=2 b=2 a box that depends on b has 0
// and 1.
std::vector<int> FirstDevices(const Mesh& mesh, const Box& box);

// Empty where the bound is a table over different axes of the mesh with one value for each of their
// coordinates, else why it is not: "a bound with 3 values where its axes make 4".
std::string FaultOf(const Mesh& mesh, const Bound& bound);

// Bytes of an element of a buffer: 8 for floats in hash arithmetic, elsewhere its type's.
int64_t ElementBytes(const Program& program, const Buffer& buffer);

// The nodes of a kernel, for people: "m, w".
std::string NodeNames(const Kernel& kernel);
// The nodes of the user's model that these come from, each once, for people; empty: there are none.
std::string Origins(const Kernel& kernel);
// Definitions of a function, [begin, end), that have nothing to do with its others (program.proto).
struct Section {
  int begin = 0, end = 0;
  int shared = 0;  // how many leading indices they share: a definition alone none
  friend bool operator==(const Section& a, const Section& b) {
    return a.begin == b.begin && a.end == b.end && a.shared == b.shared;
  }
};
// The sections of a function, in order. Example: of m[i], w[i] and n[j] these are {0, 2, 1} and
// {2, 3, 0}.
std::vector<Section> SectionsOf(const Function& function);

// Whether both buffers are live at some instruction, so that their slots must not share bytes.
bool LiveAtOnce(const Buffer& a, const Buffer& b);

// The product of `factors`, or -1 where one is negative or the product is above kMostBytes.
int64_t CheckedProduct(const google::protobuf::RepeatedField<int64_t>& factors);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_TABLES_H_
