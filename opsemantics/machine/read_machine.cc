#include "opsemantics/machine/read_machine.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
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

DeviceModel ReadDevice(const JsonReader& reader) {
  reader.OnlyFields({"name", "memory", "reserved", "bandwidth", "launch", "issue", "rates",
                     "kernels", "kernels_version", "processors"});
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
  return device;
}

}  // namespace

absl::StatusOr<Machine> ReadMachine(absl::string_view text, int nodes) {
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
  if (machine.name.empty() || machine.name.find(':') != std::string::npos) {
    root.Field("name").Fail("a name without a colon");
  }
  if (nodes > 1) absl::StrAppend(&machine.name, ":", nodes);
  machine.nodes = nodes;
  if (root.Has("about")) root.Field("about").String();
  machine.device = ReadDevice(root.Field("device"));
  machine.links = ReadLinks(root.Field("links"), nodes);
  if (root.Has("price")) machine.price = nodes * ReadConstant(root.Field("price"), kDollars);
  if (!status.ok()) return status;
  machine.hash = HashOf(machine);
  machine.text = std::string(text);
  return machine;
}

}  // namespace yuba
