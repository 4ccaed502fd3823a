// The mesh, and how tensors and nodes are cut over it.
//
// A mesh is refined to axes of prime size, named a, b, c, ...; device d has the coordinates of d's
// mixed-radix digits, the first axis most significant. A cut of one extent is an ordered list of
// axes, outermost first; the part number is the axes' coordinates read as digits.
#ifndef YUBA_OPSEMANTICS_SHARDING_SHARDING_H_
#define YUBA_OPSEMANTICS_SHARDING_SHARDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "opsemantics/definition/definition.h"
#include "opsemantics/regions/boxes.h"

namespace yuba {

struct MeshAxis {
  std::string name;
  int size = 1;  // prime
  friend bool operator==(const MeshAxis& a, const MeshAxis& b) {
    return a.name == b.name && a.size == b.size;
  }
};

struct Mesh {
  std::vector<MeshAxis> axes;

  int devices() const;
  int coordinate(int device, int axis) const;
};

// Plans are for at most so many devices.
inline constexpr int64_t kMostPlannedDevices = 4096;

// The mesh of `devices` devices: prime axes, largest first (12 = 3 2 2). devices >= 1.
Mesh MeshOf(int devices);

using AxisList = std::vector<uint8_t>;  // positions in Mesh::axes, outermost first

// For each flat dimension of a tensor, or each index of a definition, the axes that cut it. Axes
// that occur nowhere replicate (a tensor) or are computed alike (a node).
struct Cut {
  std::vector<AxisList> axes;
  friend bool operator==(const Cut& a, const Cut& b) { return a.axes == b.axes; }
  friend bool operator!=(const Cut& a, const Cut& b) { return !(a == b); }
};

int PartCount(const Mesh& mesh, const AxisList& axes);
int PartNumber(const Mesh& mesh, const AxisList& axes, int device);
Interval PartInterval(const Mesh& mesh, const AxisList& axes, int64_t extent, int device);

// A number for the device's coordinates on the axes that the cut leaves out, from 0 on.
int GroupNumber(const Mesh& mesh, const Cut& cut, int device);

// The box of a tensor with dimensions `dims` that `device` holds under `cut`.
Box ShardBox(const Mesh& mesh, const Cut& cut, const std::vector<int64_t>& dims, int device);

// What each device reads and makes of one node under a cut of its indices.
struct NodeBoxes {
  std::vector<std::vector<Interval>> ranges;  // [device][index], before constraints shrink them
  std::vector<std::vector<Box>> needs;        // [device][operand]
  std::vector<Box> made;                      // [device]
  std::vector<int> part;                      // [device]: its reduction part, 0 .. parts-1
  std::vector<bool> first;  // [device]: the first maker of what it makes (not a rep)
  int parts = 1;            // number of reduction parts
};
NodeBoxes AnalyzeNode(const Definition& definition, const Cut& cut, const Mesh& mesh);

// "[32/ab, 64]", "[4/a, 128, (3 12/bc 64)]": `dims` are the factors of each dimension.
std::string ToString(const Cut& cut, const std::vector<std::vector<int64_t>>& dims,
                     const Mesh& mesh);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_SHARDING_SHARDING_H_
