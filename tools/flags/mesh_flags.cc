#include "tools/flags/mesh_flags.h"

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "opsemantics/machine/machine_mesh.h"
#include "opsemantics/sharding/mesh_text.h"
#include "tools/command_line.h"

namespace yuba::tools {

void AddMeshFlags(CLI::App* app, MeshFlags& flags) {
  constexpr char kGroup[] = "Mesh";
  CLI::Option* devices = app->add_option("--devices", flags.devices,
                                         "number of devices; default: all of the machine, else 8")
                             ->transform(WholeNumber(1, kMostPlannedDevices))
                             ->group(kGroup);
  app->add_option("--mesh", flags.groups,
                  "the devices as named groups, as in data=2,model=4; instead of --devices")
      ->excludes(devices)
      ->group(kGroup);
  app->add_option("--machine", flags.machine,
                  "the machine that plans are for: a name of machines/, NAME:NODES, or a file")
      ->group(kGroup);
}

namespace {

// Says which axes join nodes, where the text says it of none: those in front, as many as it takes.
void SetKinds(const Machine& machine, Mesh& mesh) {
  if (mesh.kinds() > 1) return;
  int64_t devices = 1;
  for (auto axis = mesh.axes.rbegin(); axis != mesh.axes.rend(); ++axis) {
    devices *= axis->size;
    while (devices > machine.links[axis->kind].devices &&
           axis->kind + 1 < static_cast<int>(machine.links.size())) {
      ++axis->kind;
    }
  }
}

absl::StatusOr<Mesh> MeshOn(const MeshFlags& flags, const Machine* machine) {
  if (flags.groups.empty()) {
    if (machine == nullptr) return MeshOf(flags.devices == 0 ? kDevices : flags.devices);
    return MeshOfMachine(*machine, flags.devices == 0 ? machine->devices() : flags.devices);
  }
  const std::string flag = absl::StrCat("--mesh ", flags.groups);
  absl::StatusOr<Mesh> mesh = MeshOfGroups(flags.groups);
  if (!mesh.ok()) return Annotate(mesh.status(), flag);
  if (machine == nullptr) return mesh;
  SetKinds(*machine, *mesh);
  if (const std::string why = WhyNoMeshOf(*machine, *mesh); !why.empty()) {
    return UserError(flag, " is no mesh of ", machine->name, ": ", why);
  }
  return mesh;
}

}  // namespace

absl::StatusOr<MeshOnMachine> MeshOfFlags(const MeshFlags& flags) {
  MeshOnMachine result;
  if (!flags.machine.empty()) {
    absl::StatusOr<Machine> machine = FindMachine(flags.machine);
    if (!machine.ok()) return Annotate(machine.status(), "--machine");
    result.machine = std::make_shared<const Machine>(*std::move(machine));
  }
  YUBA_ASSIGN_OR_RETURN(result.mesh, MeshOn(flags, result.machine.get()));
  return result;
}

}  // namespace yuba::tools
