// The mesh: the devices of a plan as a grid with named axes.
//
// A device's number has its coordinates as digits, those of the first axis most significant: on the
// mesh a=3 b=2 device 4 has the coordinates (2, 0).
#ifndef YUBA_OPSEMANTICS_BASE_MESH_H_
#define YUBA_OPSEMANTICS_BASE_MESH_H_

#include <cstdint>
#include <string>
#include <vector>

namespace yuba {

struct MeshAxis {
  std::string name;
  int size = 1;  // prime in plans; any number from 1 on in programs
  friend bool operator==(const MeshAxis& a, const MeshAxis& b) {
    return a.name == b.name && a.size == b.size;
  }
};

struct Mesh {
  std::vector<MeshAxis> axes;  // the first is outermost; none: one device

  int devices() const;                         // the product of the sizes
  int coordinate(int device, int axis) const;  // 0 .. axes[axis].size - 1
};

// Plans are for at most so many devices.
inline constexpr int64_t kMostPlannedDevices = 4096;

// The mesh of `devices` devices: prime axes named a, b, c, ..., largest first (12 = 3 2 2).
// devices >= 1.
Mesh MeshOf(int devices);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_MESH_H_
