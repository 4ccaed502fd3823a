// The flags that say which devices there are.
#ifndef YUBA_TOOLS_FLAGS_MESH_FLAGS_H_
#define YUBA_TOOLS_FLAGS_MESH_FLAGS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "opsemantics/base/mesh.h"
#include "tools/flags/machine_flag.h"

namespace CLI {
class App;
}

namespace yuba::tools {

// The devices: a number of them, or a mesh with named groups of axes.
struct MeshFlags {
  int devices = 0;      // 1 to kMostPlannedDevices; 0: all of the machine, without one kDevices
  std::string groups;   // as in data=2,model=4; empty: `devices` counts
  std::string machine;  // as ChooseMachine takes it; empty: none is named
};
inline constexpr int kDevices = 8;
void AddMeshFlags(CLI::App* app, MeshFlags& flags);

// The mesh with its axes, 8 devices are a=2 b=2 c=2, and the machine that it is of, where there is
// one. On a machine of nodes axes that join nodes are of kind 1 and come first; of named
// groups too, unless they say their kinds themselves.
struct MeshOnMachine {
  Mesh mesh;
  ChosenMachine chosen;
  const std::shared_ptr<const Machine>& machine() const { return chosen.machine; }
};
absl::StatusOr<MeshOnMachine> MeshOfFlags(const MeshFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_MESH_FLAGS_H_
