// Meshes and lists of axes as text: how people write them (--mesh, pins, plan files), and how they
// are written for people.
//
// A person writes `data=2,model=4`: two groups of axes. Each group becomes axes of prime size:
// `data` is one axis of that name, `model` the axes model.0 and model.1 (outermost first). A list
// of axes is written "ab" where all axis names are single letters, else "data+model.1". Where a
// list has all axes of a group, in order, the group is written instead of them: "model".
#ifndef YUBA_OPSEMANTICS_SHARDING_MESH_TEXT_H_
#define YUBA_OPSEMANTICS_SHARDING_MESH_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

// The mesh of "data=2,model=4": the first group is outermost. A user's error where a size is not a
// number of at least 2, a name is not a letter followed by letters, digits and _, a name occurs
// twice, or there are more than kMostPlannedDevices devices.
absl::StatusOr<Mesh> MeshOfGroups(absl::string_view text);

// "a=2 b=2", "data=2 model=4", "one device"; of axes of another kind than 0 "node=2(kind 1) gpu=4".
std::string MeshText(const Mesh& mesh);

// "ca", "data+model.1"; "" for no axes.
std::string AxesText(const Mesh& mesh, const AxisList& axes);
// The inverse of AxesText; blanks also separate names. A user's error where a name is no axis and
// no group; it says what the mesh is. That an axis occurs twice is not checked here.
absl::StatusOr<AxisList> ParseAxes(const Mesh& mesh, absl::string_view text);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_SHARDING_MESH_TEXT_H_
