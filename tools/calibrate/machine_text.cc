#include "tools/calibrate/machine_text.h"

#include <nlohmann/json.hpp>

#include "opsemantics/base/check.h"
#include "opsemantics/machine/machine_words.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::ordered_json;

class Writer {
 public:
  explicit Writer(const std::string& source) : source_(source) {}

  template <typename T>
  Json Constant(T value) const {
    return {{"value", value}, {"source", source_}};
  }

  Json Kernels(const DeviceModel& device) const {
    Json kernels;
    for (const bool library : {false, true}) {
      for (int c = 0; c < kKernelClasses; ++c) {
        const KernelModel& model = device.kernels[library][c];
        Json& json = kernels[library ? "library" : "generated"]
                            [KernelClassName(static_cast<KernelClass>(c))];
        json = {{"start", model.start},
                {"rate_share", model.rate_share},
                {"bandwidth_share", model.bandwidth_share},
                {"half_rate", model.half_rate}};
        for (int e = 0; e < kExtras; ++e) {
          if (model.extra_operations[e] == 0) continue;
          json[ExtraName(static_cast<Extra>(e))] = model.extra_operations[e];
        }
        json["source"] = source_;
      }
    }
    return kernels;
  }

  Json Device(const DeviceModel& device) const {
    Json json = {{"name", device.name},
                 {"memory", Constant(device.memory)},
                 {"reserved", Constant(device.reserved)},
                 {"bandwidth", Constant(device.bandwidth)},
                 {"launch", Constant(device.launch)},
                 {"issue", Constant(device.issue)}};
    for (const auto& [type, rate] : device.rates) json["rates"][Name(type)] = Constant(rate);
    json["kernels"] = Kernels(device);
    if (!device.kernels_version.empty()) json["kernels_version"] = device.kernels_version;
    json["processors"] = Constant(device.processors);
    return json;
  }

  Json Link(const LinkModel& link) const {
    Json json = {{"name", link.name},
                 {"devices", Constant(link.devices)},
                 {"latency", Constant(link.latency)},
                 {"bandwidth", Constant(link.bandwidth)},
                 {"shared_by", Constant(link.shared_by)}};
    for (const CollectiveTable& table : link.tables) {
      json["tables"].push_back({{"collective", table.collective},
                                {"devices", table.devices},
                                {"one_process", table.one_process},
                                {"seconds", table.seconds},
                                {"source", source_}});
    }
    return json;
  }

 private:
  const std::string source_;
};

}  // namespace

std::string MachineText(const Machine& machine, const std::string& about,
                        const std::string& source) {
  YUBA_CHECK(machine.nodes == 1) << machine.nodes << " nodes";
  const Writer writer(source);
  Json json = {{"format", kMachineFormat}, {"name", machine.name}, {"about", about}};
  json["device"] = writer.Device(machine.device);
  for (const LinkModel& link : machine.links) json["links"].push_back(writer.Link(link));
  json["price"] = writer.Constant(machine.price);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace yuba::tools
