#include "opsemantics/machine/find_machine.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/builtin_machines.h"
#include "opsemantics/machine/read_machine.h"

namespace yuba {
namespace {

std::string NameOf(const BuiltinFile& file) {
  return std::string(absl::StripSuffix(file.name, ".json"));
}

// The text of a machine file; nodes are not part of `name`.
absl::StatusOr<std::string> TextOf(const std::string& name) {
  if (absl::EndsWith(name, ".json")) return ReadFile(name);
  for (const BuiltinFile& file : BuiltinMachines()) {
    if (NameOf(file) == name) return std::string(file.text);
  }
  return UserError("there is no machine ", name, ": it is one of ",
                   absl::StrJoin(MachineNames(), ", "),
                   ", each also as NAME:NODES and NAME@KERNELS, or a file that ",
                   "ends in .json (`yuba calibrate` writes one)");
}

}  // namespace

absl::StatusOr<Machine> FindMachine(const std::string& name_or_path) {
  const size_t colon = name_or_path.rfind(':');
  const bool has_nodes =
      colon != std::string::npos && name_or_path.find('/', colon) == std::string::npos;
  std::string name = has_nodes ? name_or_path.substr(0, colon) : name_or_path;
  int nodes = 1;
  if (has_nodes && (!absl::SimpleAtoi(name_or_path.substr(colon + 1), &nodes) || nodes < 1)) {
    return UserError("the machine ", name_or_path, " has \"", name_or_path.substr(colon + 1),
                     "\" nodes, expected a number of at least 1 behind the colon");
  }
  const size_t at = name.rfind('@');
  const bool has_set = at != std::string::npos && !absl::EndsWith(name, ".json");
  const std::string set = has_set ? name.substr(at + 1) : "";
  if (has_set) name.resize(at);
  if (has_set && set.empty()) {
    return UserError("the machine ", name_or_path,
                     " has no name of a set of kernels behind the @: name one, or leave it");
  }
  YUBA_ASSIGN_OR_RETURN(const std::string text, TextOf(name));
  absl::StatusOr<Machine> machine = ReadMachine(text, nodes, set);
  if (!machine.ok()) return Annotate(machine.status(), absl::StrCat("the machine ", name));
  return machine;
}

std::vector<std::string> MachineNames() {
  std::vector<std::string> names;
  for (const BuiltinFile& file : BuiltinMachines()) names.push_back(NameOf(file));
  std::sort(names.begin(), names.end());
  return names;
}

std::string MachineOfGpu(absl::string_view gpu, int64_t memory) {
  for (const std::string& name : MachineNames()) {
    const absl::StatusOr<Machine> machine = FindMachine(name);
    YUBA_CHECK(machine.ok()) << machine.status().ToString();  // tests read them all
    const int64_t known = machine->device.memory;
    if (machine->device.name == gpu && std::abs(known - memory) <= known / 20) return name;
  }
  return "";
}

}  // namespace yuba
