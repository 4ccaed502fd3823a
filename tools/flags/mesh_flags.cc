#include "tools/flags/mesh_flags.h"

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
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
                  "the machine that plans are for: a name of machines/, NAME:NODES, NAME@KERNELS, "
                  "a file, or none; default: $YUBA_MACHINE, else the one whose GPUs are here")
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

// Where nobody says how many: all of a machine that is named, as many as there are GPUs, else 8.
int DevicesOf(const MeshFlags& flags, const ChosenMachine& chosen) {
  if (flags.devices > 0) return flags.devices;
  if (chosen.machine == nullptr || chosen.gpus == 1) return kDevices;
  return chosen.found ? chosen.gpus : chosen.machine->devices();
}

absl::StatusOr<Mesh> MeshOn(const MeshFlags& flags, const ChosenMachine& chosen) {
  const Machine* machine = chosen.machine.get();
  if (flags.groups.empty()) {
    const int devices = DevicesOf(flags, chosen);
    return machine == nullptr ? MeshOf(devices) : MeshOfMachine(*machine, devices);
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
  YUBA_ASSIGN_OR_RETURN(result.chosen, ChooseMachine(flags.machine));
  YUBA_ASSIGN_OR_RETURN(result.mesh, MeshOn(flags, result.chosen));
  return result;
}

}  // namespace yuba::tools
