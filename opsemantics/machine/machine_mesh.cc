#include "opsemantics/machine/machine_mesh.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

// "1 to 8, or a multiple of 8 up to 64"
std::string PossibleNumbers(const Machine& machine) {
  std::string numbers = absl::StrCat("1 to ", machine.links[0].devices);
  for (size_t kind = 1; kind < machine.links.size(); ++kind) {
    absl::StrAppend(&numbers, ", or a multiple of ", machine.links[kind - 1].devices, " up to ",
                    machine.links[kind].devices);
  }
  return numbers;
}

// [kind]: how many groups of the kind inside, or devices, a group of it joins. Empty where
// `devices` are a part of one group and all of another.
std::vector<int> JoinedByKind(const Machine& machine, int devices) {
  std::vector<int> joined;
  int inner = 1;
  for (const LinkModel& link : machine.links) {
    const int group = std::min(link.devices, devices);
    if (group % inner != 0) return {};
    joined.push_back(group / inner);
    inner = group;
    if (inner == devices) return joined;
  }
  return {};
}

}  // namespace

absl::StatusOr<Mesh> MeshOfMachine(const Machine& machine, int devices) {
  if (devices < 1 || devices > machine.devices()) {
    return UserError(devices, devices == 1 ? " device" : " devices", ": ", machine.name, " has ",
                     machine.devices(), "; possible are ", PossibleNumbers(machine));
  }
  const std::vector<int> joined = JoinedByKind(machine, devices);
  if (joined.empty()) {
    return UserError(devices, " devices fill a part of one group of ", machine.name,
                     " and all of another; possible are ", PossibleNumbers(machine));
  }
  const Mesh names = MeshOf(1 << 30);  // 30 axes: more than any machine's
  Mesh mesh;
  for (size_t kind = joined.size(); kind-- > 0;) {
    for (MeshAxis axis : MeshOf(joined[kind]).axes) {
      axis.name = names.axes[mesh.axes.size()].name;
      axis.kind = static_cast<int>(kind);
      mesh.axes.push_back(axis);
    }
  }
  return mesh;
}

std::string WhyNoMeshOf(const Machine& machine, const Mesh& mesh) {
  const auto links = static_cast<int>(machine.links.size());
  if (mesh.kinds() > links) {
    return absl::StrCat("it has axes of kind ", mesh.kinds() - 1, ", the machine's links are of ",
                        links == 1 ? "kind 0" : absl::StrCat("the kinds 0 to ", links - 1));
  }
  if (!HasKindsOutermostFirst(mesh)) return "axes of greater kinds come first";
  const std::vector<int> groups = GroupSizes(mesh);
  for (size_t kind = 0; kind < groups.size(); ++kind) {
    const int most = machine.links[kind].devices;
    if (groups[kind] > most) {
      return absl::StrCat("axes of the kinds up to ", kind, " make ", groups[kind],
                          " devices, but links of kind ", kind, " join ", most);
    }
    if (kind + 1 < groups.size() && groups[kind] < most) {
      return absl::StrCat("links of kind ", kind, " join ", most, " devices, of which it uses ",
                          groups[kind], " in a group");
    }
  }
  return "";
}

}  // namespace yuba
