// The flags that say which devices there are.
#ifndef YUBA_TOOLS_FLAGS_MESH_FLAGS_H_
#define YUBA_TOOLS_FLAGS_MESH_FLAGS_H_

#include <string>

#include "absl/status/statusor.h"
#include "opsemantics/base/mesh.h"

namespace CLI {
class App;
}

namespace yuba::tools {

// The devices: a number of them, or a mesh with named groups of axes.
struct MeshFlags {
  int devices = 8;     // 1 to kMostPlannedDevices
  std::string groups;  // as in data=2,model=4; empty: `devices` counts
};
void AddMeshFlags(CLI::App* app, MeshFlags& flags);

// The mesh with its axes: 8 devices are a=2 b=2 c=2.
absl::StatusOr<Mesh> MeshOfFlags(const MeshFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_MESH_FLAGS_H_
