#include "opsemantics/machine/read_machine.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/machine_fields.h"
#include "opsemantics/machine/machine_hash.h"
#include "opsemantics/machine/machine_words.h"
#include "opsemantics/machine/read_links.h"

namespace yuba {
namespace {

std::map<ElementType, double> ReadRates(const JsonReader& rates) {
  std::map<ElementType, double> result;
  for (const auto& [name, rate] : rates.Fields()) {
    const absl::optional<ElementType> type = ElementTypeFromName(name);
    if (!type.has_value()) {
      rate.Refuse("is the rate of no element type; they are f64, f32, f16, bf16, i64, i32, ...");
      return result;
    }
    result[*type] = ReadConstant(rate, kRate);
  }
  const double f32 = ReadConstant(rates.Field("f32"), kRate);
  for (int type = 0; type <= static_cast<int>(ElementType::kBool); ++type) {
    result.emplace(static_cast<ElementType>(type), f32);
  }
  return result;
}

KernelModel ReadKernelModel(const JsonReader& reader) {
  std::vector<std::string> fields = {"start", "rate_share", "bandwidth_share", "half_rate",
                                     "source"};
  for (int e = 0; e < kExtras; ++e) fields.push_back(ExtraName(static_cast<Extra>(e)));
  reader.OnlyFields(fields);
  ReadSource(reader);
  KernelModel model;
  model.start = Read(reader.Field("start"), kSeconds);
  model.rate_share = Read(reader.Field("rate_share"), kShare);
  model.bandwidth_share = Read(reader.Field("bandwidth_share"), kShare);
  model.half_rate = Read(reader.Field("half_rate"), kResults);
  for (int e = 0; e < kExtras; ++e) {
    const char* const name = ExtraName(static_cast<Extra>(e));
    if (reader.Has(name)) model.extra_operations[e] = Read(reader.Field(name), kOperations);
  }
  return model;
}

// Libraries have no kernels of some classes; what stands there are then those of generated code.
void ReadKernels(const JsonReader& kernels, DeviceModel& device) {
  kernels.OnlyFields({"generated", "library"});
  for (const bool library : {false, true}) {
    const JsonReader reader = kernels.Field(library ? "library" : "generated");
    std::vector<std::string> names;
    for (int c = 0; c < kKernelClasses; ++c) {
      names.push_back(KernelClassName(static_cast<KernelClass>(c)));
      device.kernels[library][c] = library && !reader.Has(names[c])
                                       ? device.kernels[false][c]
                                       : ReadKernelModel(reader.Field(names[c]));
    }
    reader.OnlyFields(names);
  }
}

// A set of kernels that the device may have in the place of Yuba's. No code is told apart from a
// library in it, and none of it was timed here.
void ReadKernelSet(const JsonReader& set, DeviceModel& device) {
  std::vector<std::string> names = {"fused_products"};
  for (int c = 0; c < kKernelClasses; ++c) {
    names.push_back(KernelClassName(static_cast<KernelClass>(c)));
    const KernelModel model = ReadKernelModel(set.Field(names.back()));
    for (const bool library : {false, true}) device.kernels[library][c] = model;
  }
  if (set.Has("fused_products")) {
    device.fused_products = ValueOf(set.Field("fused_products")).Bool();
  }
  device.kernels_version.clear();
  set.OnlyFields(names);
}

// All sets are read, so that an error in one is found whichever is asked for.
void ReadKernelSets(const JsonReader& reader, const std::string& asked, DeviceModel& device) {
  std::vector<std::string> names;
  if (reader.Has("kernel_sets")) {
    for (const auto& [name, set] : reader.Field("kernel_sets").Fields()) {
      DeviceModel other = device;
      ReadKernelSet(set, other);
      names.push_back(name);
      if (name == asked) device = std::move(other);
    }
  }
  if (asked.empty() || std::count(names.begin(), names.end(), asked) > 0) return;
  reader.Refuse(absl::StrCat("has no set of kernels \"", asked, "\": ",
                             names.empty() ? "it has none, leave @ and what follows"
                                           : "it has " + absl::StrJoin(names, ", ")));
}

DeviceModel ReadDevice(const JsonReader& reader, const std::string& kernel_set) {
  reader.OnlyFields({"name", "memory", "reserved", "bandwidth", "launch", "issue", "rates",
                     "kernels", "kernel_sets", "kernels_version", "processors"});
  constexpr int64_t kMostBytes = int64_t{1} << 60;
  DeviceModel device;
  device.name = reader.Field("name").String();
  device.memory = ValueOf(reader.Field("memory")).Integer(1, kMostBytes);
  device.reserved =
      ValueOf(reader.Field("reserved")).Integer(0, std::max<int64_t>(device.memory, 1) - 1);
  device.bandwidth = ReadConstant(reader.Field("bandwidth"), kBandwidth);
  device.launch = ReadConstant(reader.Field("launch"), kSeconds);
  device.issue = ReadConstant(reader.Field("issue"), kSeconds);
  device.rates = ReadRates(reader.Field("rates"));
  ReadKernels(reader.Field("kernels"), device);
  if (reader.Has("kernels_version"))
    device.kernels_version = reader.Field("kernels_version").String();
  if (reader.Has("processors")) {
    device.processors = static_cast<int>(
        ValueOf(reader.Field("processors")).Integer(0, std::numeric_limits<int>::max()));
  }
  ReadKernelSets(reader, kernel_set, device);
  return device;
}

}  // namespace

std::string KernelSetOf(absl::string_view machine_name) {
  const size_t at = machine_name.rfind('@');
  if (at == absl::string_view::npos) return "";
  return std::string(machine_name.substr(at + 1, machine_name.find(':', at) - at - 1));
}

absl::StatusOr<Machine> ReadMachine(absl::string_view text, int nodes,
                                    const std::string& kernel_set) {
  YUBA_CHECK(nodes >= 1) << nodes << " nodes";
  YUBA_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text));
  absl::Status status;
  const JsonReader root(json, &status);
  root.OnlyFields({"format", "name", "about", "device", "links", "price"});
  if (root.Field("format").String() != kMachineFormat) {
    root.Field("format").Fail(absl::StrCat("\"", kMachineFormat, "\""));
  }
  Machine machine;
  machine.name = root.Field("name").String();
  if (machine.name.empty() || machine.name.find_first_of(":@") != std::string::npos) {
    root.Field("name").Fail("a name without : and @");
  }
  if (!kernel_set.empty()) absl::StrAppend(&machine.name, "@", kernel_set);
  if (nodes > 1) absl::StrAppend(&machine.name, ":", nodes);
  machine.nodes = nodes;
  if (root.Has("about")) root.Field("about").String();
  machine.device = ReadDevice(root.Field("device"), kernel_set);
  machine.links = ReadLinks(root.Field("links"), nodes);
  if (root.Has("price")) machine.price = nodes * ReadConstant(root.Field("price"), kDollars);
  if (!status.ok()) return status;
  machine.hash = HashOf(machine);
  machine.text = std::string(text);
  return machine;
}

}  // namespace yuba
