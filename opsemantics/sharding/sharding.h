// The mesh, the sharding of a tensor, and the partition of a node over it.
//
// A mesh is the devices as a grid. Its axes have prime sizes and are named a, b, c, ..., or as a
// person calls them (mesh_text.h); the coordinates of device d are the mixed-radix digits of d, the
// first axis most significant. An extent is cut over an ordered list of axes, outermost first, into
// as many parts as the product of their sizes; a device's part number is its coordinates on these
// axes read as digits, and PartOf (base/box.h) says which interval that part is. Everything is in
// global coordinates; no part is padded.
//
// Example, on 4 devices (axes a and b of size 2): y[i, j] = sum(k) x[i, k] * w[k, j] with i over a
// and k over b. Device 1 has the coordinates (0, 1): it reads the upper right quarter of x and the
// lower half of w, and writes the upper half of y, the second of two partials. The README of this
// room works this example to the bytes.
#ifndef YUBA_OPSEMANTICS_SHARDING_SHARDING_H_
#define YUBA_OPSEMANTICS_SHARDING_SHARDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/base/mesh.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/regions/boxes.h"

namespace yuba {

using AxisList = std::vector<uint8_t>;  // positions in Mesh::axes, outermost first

// The sharding of a tensor. An axis occurs at most once; over an axis that occurs nowhere the
// tensor is replicated (or, where it holds partials that stay unreduced, has one partial for each
// coordinate: see GroupNumber).
struct Sharding {
  std::vector<AxisList> axes;  // [flat dimension of the tensor]
  friend bool operator==(const Sharding& a, const Sharding& b) { return a.axes == b.axes; }
  friend bool operator!=(const Sharding& a, const Sharding& b) { return !(a == b); }
};

// The partition of a node: `axes` is by index of its definition instead, and says over which axes
// each loop of the node is cut. Devices that differ only on axes that occur nowhere compute the
// same.
using Partition = Sharding;

// Into how many parts `axes` cut an extent, which of them `device` has, and its interval of the
// extent. With no axes there is one part, the whole extent. An extent of 10 over {c, a} of the mesh
// a=2 b=2 c=2 has 4 parts; device 1 (0, 0, 1) has part number 2, the interval [5, 7).
int PartCount(const Mesh& mesh, const AxisList& axes);
int PartNumber(const Mesh& mesh, const AxisList& axes, int device);
Interval PartInterval(const Mesh& mesh, const AxisList& axes, int64_t extent, int device);

// The device's coordinates on the axes that the sharding leaves out, read as digits: 0 for the
// first of several replicas. For a tensor that holds unreduced partials it is the number of the
// device's group (BoxesInGroups in base/transfers.h).
int GroupNumber(const Mesh& mesh, const Sharding& sharding, int device);

// The shard: the box that `device` has of a tensor with flat dimensions `dims`.
Box ShardBox(const Mesh& mesh, const Sharding& sharding, const std::vector<int64_t>& dims,
             int device);

// What each device reads and writes when it runs its part of a node. `writes`, `partial` and
// `partials` are the Producers of base/transfers.h.
struct NodeBoxes {
  std::vector<std::vector<Interval>> ranges;  // [device][index]: the part of each index that it
                                              // runs, before constraints shrink it
  std::vector<std::vector<Box>> reads;        // [device][operand]; may be empty
  std::vector<Box> writes;                    // [device]
  std::vector<int> partial;  // [device]: which partial of its box it writes, 0 .. partials - 1
  std::vector<bool> first;   // [device]: whether no device of a lower number computes the same
  int partials = 1;          // the product of the parts of all reduction indices
};

// `partition` has one list of axes for each index of the definition. Which indices it may cut,
// CuttableIndices of regions/boxes.h says; this function does not check that.
NodeBoxes AnalyzeNode(const Definition& definition, const Partition& partition, const Mesh& mesh);

// The sharding as text: "[32/ab, 64]", "[4/a, 128, (3 12/bc 64)]". `dims` are the factors of each
// dimension; all of them together are the flat dimensions of `sharding`.
std::string ToString(const Sharding& sharding, const std::vector<std::vector<int64_t>>& dims,
                     const Mesh& mesh);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_SHARDING_SHARDING_H_
