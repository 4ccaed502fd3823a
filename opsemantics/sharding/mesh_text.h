// The names of a mesh: how people write axes, and how axes are written for them.
//
// `data=2,model=4` names groups of devices. Each is refined to prime axes: `data` is one axis of
// that name, `model` the axes model.0 and model.1 (outermost first). Lists of axes are written "ab"
// where all names are single letters, else "data+model.1"; the axes of a group, all and in order,
// are written as the group: "model".
#ifndef YUBA_OPSEMANTICS_SHARDING_MESH_TEXT_H_
#define YUBA_OPSEMANTICS_SHARDING_MESH_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba {

// The mesh of "data=2,model=4": the first group is outermost. A user's error where a size is no
// number of at least 2, a name is none or there twice, or there are more than kMostPlannedDevices.
absl::StatusOr<Mesh> MeshOfGroups(absl::string_view text);

std::string MeshText(const Mesh& mesh);  // "a=2 b=2", "data=2 model=4", "one device"

std::string AxesText(const Mesh& mesh, const AxisList& axes);
// The inverse; blanks also separate. An error names the axes that there are.
absl::StatusOr<AxisList> ParseAxes(const Mesh& mesh, absl::string_view text);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_SHARDING_MESH_TEXT_H_
