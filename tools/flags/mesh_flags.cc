#include "tools/flags/mesh_flags.h"

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/sharding/mesh_text.h"
#include "tools/command_line.h"

namespace yuba::tools {

void AddMeshFlags(CLI::App* app, MeshFlags& flags) {
  constexpr char kGroup[] = "Mesh";
  CLI::Option* devices = app->add_option("--devices", flags.devices, "number of devices")
                             ->transform(WholeNumber(1, kMostPlannedDevices))
                             ->capture_default_str()
                             ->group(kGroup);
  app->add_option("--mesh", flags.groups,
                  "the devices as named groups, as in data=2,model=4; instead of --devices")
      ->excludes(devices)
      ->group(kGroup);
}

absl::StatusOr<Mesh> MeshOfFlags(const MeshFlags& flags) {
  if (flags.groups.empty()) return MeshOf(flags.devices);
  absl::StatusOr<Mesh> mesh = MeshOfGroups(flags.groups);
  return mesh.ok() ? mesh : Annotate(mesh.status(), absl::StrCat("--mesh ", flags.groups));
}

}  // namespace yuba::tools
