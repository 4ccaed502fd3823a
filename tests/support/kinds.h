// Meshes whose axes are of several kinds.
#ifndef YUBA_TESTS_SUPPORT_KINDS_H_
#define YUBA_TESTS_SUPPORT_KINDS_H_

#include <random>
#include <vector>

#include "opsemantics/base/mesh.h"

namespace yuba {

// The mesh of so many devices with these kinds, outermost axis first; those left out are 0.
inline Mesh MeshOfKinds(int devices, const std::vector<int>& kinds) {
  Mesh mesh = MeshOf(devices);
  for (size_t axis = 0; axis < kinds.size(); ++axis) mesh.axes[axis].kind = kinds[axis];
  return mesh;
}

// With random kinds below `kinds`.
inline Mesh MeshOfRandomKinds(int devices, int kinds, std::mt19937& random) {
  Mesh mesh = MeshOf(devices);
  for (MeshAxis& axis : mesh.axes) axis.kind = static_cast<int>(random() % kinds);
  return mesh;
}

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_KINDS_H_
