// The mesh: the devices of a plan as a grid with named axes.
//
// A device's number has its coordinates as digits, those of the first axis most significant: on the
// mesh a=3 b=2 device 4 has the coordinates (2, 0).
#ifndef YUBA_OPSEMANTICS_BASE_MESH_H_
#define YUBA_OPSEMANTICS_BASE_MESH_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace yuba {

// The class of a mesh axis. Axes of one class may exchange their names: no plan then costs more or
// less. Whoever asks whether two axes are equal compares their classes, never their sizes alone.
struct AxisClass {
  int size = 1, kind = 0;
  friend bool operator==(const AxisClass& a, const AxisClass& b) {
    return a.size == b.size && a.kind == b.kind;
  }
  friend bool operator!=(const AxisClass& a, const AxisClass& b) { return !(a == b); }
  friend bool operator<(const AxisClass& a, const AxisClass& b) {
    return std::tie(a.size, a.kind) < std::tie(b.size, b.kind);
  }
};

struct MeshAxis {
  std::string name;
  int size = 1;  // prime in plans; any number from 1 on in programs
  // Which links join devices that differ on this axis alone: equal for links that are equally fast.
  // A number from 0 on; 0 for all axes where nothing is known of the links.
  int kind = 0;
  AxisClass axis_class() const { return {size, kind}; }
  friend bool operator==(const MeshAxis& a, const MeshAxis& b) {
    return a.name == b.name && a.axis_class() == b.axis_class();
  }
};

struct Mesh {
  std::vector<MeshAxis> axes;  // the first is outermost; none: one device

  int devices() const;                         // the product of the sizes
  int coordinate(int device, int axis) const;  // 0 .. axes[axis].size - 1
  int kinds() const;                           // one more than the greatest kind; at least 1
};

// Plans are for at most so many devices.
inline constexpr int64_t kMostPlannedDevices = 4096;
// The kinds of their axes are below this: so many axes of size 2 make as many devices.
inline constexpr int kMostKinds = 12;

// The mesh of `devices` devices: prime axes named a, b, c, ..., largest first (12 = 3 2 2), all of
// kind 0. devices >= 1.
Mesh MeshOf(int devices);

// [kind]: how many devices links of this kind and lesser ones join. On nodes of 8, of which there
// are 2, {8, 16}. They have consecutive numbers where axes of greater kinds come first.
std::vector<int> GroupSizes(const Mesh& mesh);
bool HasKindsOutermostFirst(const Mesh& mesh);

// Whether an axis may have this size.
bool IsPrime(int64_t number);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_MESH_H_
