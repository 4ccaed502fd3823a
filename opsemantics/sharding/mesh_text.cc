#include "opsemantics/sharding/mesh_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

// "model" of "model.1"; an axis whose name has no dot is a group of its own.
absl::string_view GroupName(absl::string_view axis) { return axis.substr(0, axis.find('.')); }

// The axes from `first` on that are of its group.
AxisList GroupAt(const Mesh& mesh, size_t first) {
  AxisList axes;
  for (size_t axis = first; axis < mesh.axes.size() &&
                            GroupName(mesh.axes[axis].name) == GroupName(mesh.axes[first].name);
       ++axis) {
    axes.push_back(static_cast<uint8_t>(axis));
  }
  return axes;
}

bool AllLetters(const Mesh& mesh) {
  return std::all_of(mesh.axes.begin(), mesh.axes.end(),
                     [](const MeshAxis& axis) { return axis.name.size() == 1; });
}

int AxisNamed(const Mesh& mesh, absl::string_view name) {
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (mesh.axes[axis].name == name) return static_cast<int>(axis);
  }
  return -1;
}

bool IsName(absl::string_view name) {
  return !name.empty() && absl::ascii_isalpha(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// Whether the text is an integer, of however many digits.
bool IsInteger(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  absl::ConsumePrefix(&text, "-");
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// Appends the axes that one word of a list stands for: an axis, a group, or several axes of one
// letter each.
absl::Status AppendAxes(const Mesh& mesh, absl::string_view word, AxisList& axes) {
  if (const int axis = AxisNamed(mesh, word); axis >= 0) {
    axes.push_back(static_cast<uint8_t>(axis));
    return absl::OkStatus();
  }
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (GroupName(mesh.axes[axis].name) != word) continue;
    const AxisList group = GroupAt(mesh, axis);
    axes.insert(axes.end(), group.begin(), group.end());
    return absl::OkStatus();
  }
  const AxisList before = axes;
  for (char letter : AllLetters(mesh) ? word : absl::string_view()) {
    const int axis = AxisNamed(mesh, absl::string_view(&letter, 1));
    if (axis < 0) break;
    axes.push_back(static_cast<uint8_t>(axis));
  }
  if (axes.size() == before.size() + word.size()) return absl::OkStatus();
  return UserError("no mesh axis is called '", word, "'; the mesh is ", MeshText(mesh));
}

}  // namespace

absl::StatusOr<Mesh> MeshOfGroups(absl::string_view text) {
  Mesh mesh;
  int64_t devices = 1;
  std::vector<std::string> names;
  for (absl::string_view group : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(group, absl::MaxSplits('=', 1));
    const std::string name(absl::StripAsciiWhitespace(parts.first));
    if (!IsName(name) || !IsInteger(parts.second)) {
      return UserError("'", group, "': expected NAME=SIZE, as in data=2,model=4");
    }
    int size = 0;
    if (!absl::SimpleAtoi(parts.second, &size)) {
      return UserError("'", group, "': the size is out of range: at most ", kMostPlannedDevices,
                       " devices are planned for");
    }
    if (size < 2) {
      return UserError("'", group, "': ", size,
                       " devices cannot share anything; leave the axis out");
    }
    if (std::count(names.begin(), names.end(), name) > 0) {
      return UserError("the axis ", name, " is named twice");
    }
    names.push_back(name);
    devices *= size;
    if (devices > kMostPlannedDevices) {
      return UserError("at most ", kMostPlannedDevices, " devices are planned for");
    }
    const Mesh refined = MeshOf(size);
    for (size_t i = 0; i < refined.axes.size(); ++i) {
      mesh.axes.push_back(
          {refined.axes.size() == 1 ? name : absl::StrCat(name, ".", i), refined.axes[i].size});
    }
  }
  return mesh;
}

std::string MeshText(const Mesh& mesh) {
  if (mesh.axes.empty()) return "one device";
  std::vector<std::string> groups;
  for (size_t axis = 0; axis < mesh.axes.size();) {
    const int kind = mesh.axes[axis].kind;
    AxisList group = GroupAt(mesh, axis);
    group.erase(std::find_if(group.begin(), group.end(),
                             [&](uint8_t other) { return mesh.axes[other].kind != kind; }),
                group.end());
    groups.push_back(absl::StrCat(GroupName(mesh.axes[axis].name), "=", PartCount(mesh, group)));
    if (kind != 0) absl::StrAppend(&groups.back(), "(kind ", kind, ")");
    axis += group.size();
  }
  return absl::StrJoin(groups, " ");
}

std::string AxesText(const Mesh& mesh, const AxisList& axes) {
  const char* between = AllLetters(mesh) ? "" : "+";
  std::string text;
  for (size_t i = 0; i < axes.size();) {
    const AxisList group = GroupAt(mesh, axes[i]);
    const bool whole =
        axes.size() - i >= group.size() && std::equal(group.begin(), group.end(), axes.begin() + i);
    const absl::string_view name = mesh.axes[axes[i]].name;
    // A group is named from its first axis on.
    const bool first = axes[i] == 0 || GroupName(mesh.axes[axes[i] - 1].name) != GroupName(name);
    const bool as_group = whole && first && group.size() > 1;
    absl::StrAppend(&text, i == 0 ? "" : between, as_group ? GroupName(name) : name);
    i += as_group ? group.size() : 1;
  }
  return text;
}

absl::StatusOr<AxisList> ParseAxes(const Mesh& mesh, absl::string_view text) {
  AxisList axes;
  for (absl::string_view word : absl::StrSplit(text, absl::ByAnyChar("+ "), absl::SkipEmpty())) {
    YUBA_RETURN_IF_ERROR(AppendAxes(mesh, word, axes));
  }
  return axes;
}

}  // namespace yuba
