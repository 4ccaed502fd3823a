// The mesh, the sharding of a tensor, and the partition of a node over it.
//
// A mesh is refined to axes of prime size, named a, b, c, ...; device d has the coordinates of d's
// mixed-radix digits, the first axis most significant. An extent is cut over an ordered list of
// axes, outermost first; a device's part number is its coordinates on these axes read as digits.
//
// Example, on 4 devices (axes a and b of size 2): y[i, j] = sum(k) x[i, k] * w[k, j] with i over a
// and k over b. Device 1 has the coordinates (0, 1): it reads the upper right quarter of x and the
// lower half of w, and writes the upper half of y, partial 1 of 2. See the README of this room.
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

// For each flat dimension of a tensor the axes that it is cut over. Over axes that occur nowhere
// the tensor is replicated.
struct Sharding {
  std::vector<AxisList> axes;
  friend bool operator==(const Sharding& a, const Sharding& b) { return a.axes == b.axes; }
  friend bool operator!=(const Sharding& a, const Sharding& b) { return !(a == b); }
};

// The same for each index of a definition: the loops of the node are cut. Devices that differ only
// on axes that occur nowhere compute the same.
using Partition = Sharding;

int PartCount(const Mesh& mesh, const AxisList& axes);
int PartNumber(const Mesh& mesh, const AxisList& axes, int device);
Interval PartInterval(const Mesh& mesh, const AxisList& axes, int64_t extent, int device);

// A number for the device's coordinates on the axes that the sharding leaves out, from 0 on.
int GroupNumber(const Mesh& mesh, const Sharding& sharding, int device);

// The box of a tensor with dimensions `dims` that `device` has under `sharding`.
Box ShardBox(const Mesh& mesh, const Sharding& sharding, const std::vector<int64_t>& dims,
             int device);

// What each device reads and writes for one node under a partition of its indices.
struct NodeBoxes {
  std::vector<std::vector<Interval>> ranges;  // [device][index], before constraints shrink them
  std::vector<std::vector<Box>> reads;        // [device][operand]
  std::vector<Box> writes;                    // [device]
  std::vector<int> partial;  // [device]: which partial of its box it writes, 0 .. partials - 1
  std::vector<bool> first;   // [device]: the first producer of what it writes, no replica of one
  int partials = 1;  // parts of the reduction: the product of the parts of reduction indices
};
NodeBoxes AnalyzeNode(const Definition& definition, const Partition& partition, const Mesh& mesh);

// "[32/ab, 64]", "[4/a, 128, (3 12/bc 64)]": `dims` are the factors of each dimension.
std::string ToString(const Sharding& sharding, const std::vector<std::vector<int64_t>>& dims,
                     const Mesh& mesh);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_SHARDING_SHARDING_H_
