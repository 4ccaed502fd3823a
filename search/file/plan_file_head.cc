#include "search/file/plan_file_head.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/machine/machine_mesh.h"
#include "opsemantics/machine/read_machine.h"

namespace yuba::search {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Mesh ReadMesh(const JsonReader& reader) {
  Mesh mesh;
  int64_t devices = 1;
  for (const JsonReader& item : reader.Items()) {
    MeshAxis axis;
    axis.name = item.Field("axis").String();
    axis.size = static_cast<int>(item.Field("size").Integer(2, kMostPlannedDevices));
    if (reader.ok() && !IsPrime(axis.size)) {
      item.Field("size").Fail("a prime number: a group of 4 devices is two axes of 2");
    }
    if (item.Has("kind")) {
      axis.kind = static_cast<int>(item.Field("kind").Integer(0, kMostKinds - 1));
    }
    for (const MeshAxis& other : mesh.axes) {
      if (other.name == axis.name) item.Field("axis").Fail("a name that no other axis has");
    }
    devices *= axis.size;
    if (devices > kMostPlannedDevices) {
      item.Field("size").Fail(absl::StrCat("at most ", kMostPlannedDevices, " devices in all"));
    }
    if (!reader.ok()) return Mesh();
    mesh.axes.push_back(axis);
  }
  return mesh;
}

bool IsOneOf(const std::string& word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Which options there are, who made the plan knows (tools/flags/plan_options.h).
void ReadOptions(const JsonReader& reader, std::map<std::string, std::string>* options) {
  for (const auto& [name, value] : reader.Fields()) {
    const std::string text = (*options)[name] = value.String();
    if (name == "space" && !IsOneOf(text, {"flat", "tofu"})) value.Fail("\"flat\" or \"tofu\"");
  }
}

// The pins as people wrote them are numbered from 0.
std::vector<std::string> PinTexts(const JsonReader& reader,
                                  const std::map<std::string, std::string>& options) {
  std::vector<std::string> texts;
  for (const auto& [name, text] : options) {
    if (!absl::StartsWith(name, "pin.")) continue;
    const auto next = options.find(absl::StrCat("pin.", texts.size()));
    if (next == options.end()) {
      reader.Field(name).Refuse(absl::StrCat("is there, but no pin.", texts.size()));
      return texts;
    }
    texts.push_back(next->second);
  }
  return texts;
}

// What is demanded of each extent of one element; no axis twice.
Demands ReadDemands(const JsonReader& row, const Mesh& mesh) {
  Demands demands;
  std::vector<bool> demanded(mesh.axes.size() + 1, false);
  const std::vector<JsonReader> others = row.Field("others").Items();
  for (const JsonReader& extent : row.Field("axes").Items()) {
    if (demands.size() == others.size()) {
      row.Field("others").Refuse("is shorter than axes");
      return demands;
    }
    demands.push_back({ReadAxes(extent, mesh), others[demands.size()].Bool()});
    for (const uint8_t axis : demands.back().axes) {
      if (demanded[axis]) extent.Refuse("contradicts itself: an axis cuts once");
      demanded[axis] = true;
    }
  }
  if (demands.size() < others.size()) row.Field("others").Refuse("is longer than axes");
  return demands;
}

// Elements ascend; there are `elements` in all.
PinnedElements ReadPins(const JsonReader& rows, const Mesh& mesh, int64_t elements) {
  PinnedElements pins;
  for (const JsonReader& row : rows.Items()) {
    row.OnlyFields({"element", "axes", "others"});
    const int64_t least = pins.empty() ? 0 : pins.back().element + 1;
    const int64_t element = row.Field("element").Integer(least, elements - 1);
    Demands demands = ReadDemands(row, mesh);
    if (!rows.ok()) return pins;
    pins.push_back({static_cast<int>(element), std::move(demands)});
  }
  return pins;
}

void ReadSpace(const JsonReader& root, PlanFile* file) {
  const JsonReader reader = root.Field("space");
  reader.OnlyFields({"nesting", "factors", "copies", "accumulators", "partials", "replicate",
                     "memory", "ties", "pins", "objective"});
  Space& space = file->space;
  space.nesting = ReadWord<Nesting>(reader.Field("nesting"));
  space.factors = reader.Field("factors").Bool();
  space.copies = reader.Field("copies").Bool();
  space.accumulators = reader.Field("accumulators").Bool();
  space.partials = reader.Field("partials").Bool();
  space.replicate = ReadWord<Replicate>(reader.Field("replicate"));
  space.memory = reader.Field("memory").Integer(0, kMost);
  space.pin_texts = PinTexts(root.Field("options"), file->notes.options);
  if (!reader.Has("pins")) return;
  const size_t elements = root.Field("tensors").Items().size() + root.Field("nodes").Items().size();
  space.pins = ReadPins(reader.Field("pins"), file->mesh, static_cast<int64_t>(elements));
}

// The machine whose hash the plan has, read from the plan itself.
std::shared_ptr<const Machine> ReadMachineOf(const JsonReader& reader) {
  reader.OnlyFields({"name", "found", "hash", "nodes", "file"});
  const int nodes = static_cast<int>(reader.Field("nodes").Integer(1, kMostPlannedDevices));
  const std::string name = reader.Field("name").String(), hash = reader.Field("hash").String();
  const std::string text = reader.Field("file").Text();
  if (!reader.ok()) return nullptr;
  absl::StatusOr<Machine> machine = ReadMachine(text, nodes, KernelSetOf(name));
  if (!machine.ok()) {
    reader.Field("file").Refuse(absl::StrCat("is no machine: ", machine.status().message()));
    return nullptr;
  }
  if (machine->hash != hash) {
    reader.Field("hash").Fail(absl::StrCat("\"", machine->hash, "\", which its numbers have"));
    return nullptr;
  }
  if (machine->name != name) reader.Field("name").Fail(absl::StrCat("\"", machine->name, "\""));
  return std::make_shared<const Machine>(*std::move(machine));
}

void ReadObjective(const JsonReader& root, PlanFile* file) {
  ObjectiveKind kind = ObjectiveKind::kBytes;
  const JsonReader space = root.Field("space");
  if (space.Has("objective")) kind = ReadWord<ObjectiveKind>(space.Field("objective"));
  if (!root.Has("machine")) {
    if (kind == ObjectiveKind::kTime) space.Refuse("is of times, but the plan names no machine");
    return;
  }
  const JsonReader reader = root.Field("machine");
  if (reader.Has("found")) file->notes.machine_found = reader.Field("found").Bool();
  const std::shared_ptr<const Machine> machine = ReadMachineOf(reader);
  if (machine == nullptr || !root.ok()) return;
  if (const std::string why = WhyNoMeshOf(*machine, file->mesh); !why.empty()) {
    return root.Field("mesh").Refuse(absl::StrCat("is none of ", machine->name, ": ", why));
  }
  file->space.objective = Objective(kind, machine);
}

}  // namespace

AxisList ReadAxes(const JsonReader& reader, const Mesh& mesh) {
  AxisList list;
  for (const JsonReader& item : reader.Items()) {
    std::string name = item.String();
    size_t axis = 0;
    while (axis < mesh.axes.size() && mesh.axes[axis].name != name) ++axis;
    if (axis == mesh.axes.size()) item.Fail("the name of a mesh axis");
    list.push_back(static_cast<uint8_t>(axis));
  }
  return list;
}

void ReadHead(const JsonReader& root, PlanFile* file) {
  std::string format = root.Field("format").String();
  if (format == "yuba-plan/1") {
    root.Field("format").Fail(
        "\"yuba-plan/2\"; this plan is an older yuba's, so make it anew with yuba partition");
  } else if (format != "yuba-plan/2") {
    root.Field("format").Fail("\"yuba-plan/2\"");
  }
  JsonReader graph = root.Field("graph");
  file->notes.graph_file = graph.Field("file").String();
  file->notes.graph_hash = graph.Field("hash").String();
  for (const auto& [name, shape] : graph.Field("inputs").Fields()) {
    std::vector<int64_t>& dims = file->notes.inputs[name];
    for (const JsonReader& dim : shape.Items()) dims.push_back(dim.Integer(0, kMost));
  }
  file->notes.library_hash = root.Field("library").String();
  file->notes.version = root.Field("version").String();
  ReadOptions(root.Field("options"), &file->notes.options);
  file->search = root.Field("search").String();
  if (root.Has("stopped")) {
    file->stopped = root.Field("stopped").String();
    if (file->stopped != kTimeLimit && file->stopped != kInterrupt) {
      root.Field("stopped").Fail(absl::StrCat("\"", kTimeLimit, "\" or \"", kInterrupt, "\""));
    }
  }
  file->mesh = ReadMesh(root.Field("mesh"));
  ReadSpace(root, file);
  ReadObjective(root, file);
}

}  // namespace yuba::search
