// The mesh of some devices of a machine: axes by its kinds of links.
#ifndef YUBA_OPSEMANTICS_MACHINE_MACHINE_MESH_H_
#define YUBA_OPSEMANTICS_MACHINE_MACHINE_MESH_H_

#include "absl/status/statusor.h"
#include "opsemantics/base/mesh.h"
#include "opsemantics/machine/machine.h"

namespace yuba {

// The mesh of the machine's first `devices` devices: prime axes named a, b, c, ..., those that join
// the largest groups first, within one kind the largest first. 16 devices on nodes of 8 are
// a=2(kind 1) b=2 c=2 d=2. A user's error where there are fewer than one or more than the machine
// has, and where they fill a part of one group and all of another (12 on nodes of 8): it says which
// numbers there are.
absl::StatusOr<Mesh> MeshOfMachine(const Machine& machine, int devices);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_MACHINE_MACHINE_MESH_H_
