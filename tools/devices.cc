// yuba devices: what does this machine have to run programs on, and what is missing for what?
#include "runtime/devices.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "runtime/cuda/library_folders.h"
#include "tools/command.h"
#include "tools/flags/machine_flag.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

constexpr char kHost[] = "host";  // the machine file of processors

// The machine file that fits what was found, with a word about it; no name: none fits.
struct FittingMachine {
  std::string name, word;
};

FittingMachine MachineOf(const runtime::MachineFacts& facts) {
  if (facts.gpus.empty()) {
    return {kHost, "constants of another host, unless yuba calibrate measures this one"};
  }
  const ChosenMachine fits = MachineWith(facts.gpus);
  if (fits.machine == nullptr) return {"", fits.why_none};
  return {fits.machine->name, absl::StrCat("known by its ", facts.gpus[0].name)};
}

std::string Json(const runtime::MachineFacts& facts) {
  nlohmann::ordered_json json;
  json["processors"] = facts.processors;
  json["virtual_devices"] = facts.virtual_devices;
  json["gpus"] = nlohmann::ordered_json::array();
  for (const cuda::GpuFacts& gpu : facts.gpus) {
    json["gpus"].push_back({{"name", gpu.name}, {"memory", gpu.memory}, {"sm", gpu.sm}});
  }
  json["no_gpu"] = facts.no_gpu;
  const FittingMachine machine = MachineOf(facts);
  json["machine"] = {{"name", machine.name}, {"detail", machine.word}};
  for (const runtime::ComponentFacts& component : facts.components) {
    json["components"][component.name] = {{"found", component.found},
                                          {"too_old", component.too_old},
                                          {"detail", component.detail},
                                          {"use", component.use}};
  }
  return json.dump(1) + "\n";
}

std::string Text(const runtime::MachineFacts& facts) {
  TextTable table(4);
  table.Add({"host", absl::StrCat(facts.processors, " processors"),
             absl::StrCat("up to ", facts.virtual_devices, " virtual devices")});
  for (size_t i = 0; i < facts.gpus.size(); ++i) {
    const cuda::GpuFacts& gpu = facts.gpus[i];
    table.Add(
        {absl::StrCat("GPU ", i), gpu.name, absl::StrCat(Bytes(gpu.memory), ", sm_", gpu.sm)});
  }
  if (facts.gpus.empty()) table.Add({"GPUs", "none", facts.no_gpu});
  const FittingMachine machine = MachineOf(facts);
  table.Add({"--machine", machine.name.empty() ? "none fits" : machine.name, machine.word});
  for (const runtime::ComponentFacts& component : facts.components) {
    table.Add({component.name,
               component.found     ? "found"
               : component.too_old ? "too old"
                                   : "missing",
               component.found ? component.detail
                               : absl::StrCat(component.detail, " (for ", component.use, ")")});
  }
  return table.ToString();
}

std::string RateText(double bytes_a_second) {
  return absl::StrFormat("%.4g GB/s", bytes_a_second / 1e9);
}

// What a machine file says, for people.
std::string Text(const Machine& machine) {
  TextTable table(3);
  const DeviceModel& device = machine.device;
  table.Add({"machine", machine.name, absl::StrCat("hash ", machine.hash)});
  table.Add({"devices", absl::StrCat(machine.devices(), " ", device.name),
             absl::StrCat(Bytes(device.memory), " each, of which driver and libraries take ",
                          Bytes(device.reserved), "; ", RateText(device.bandwidth))});
  for (size_t kind = 0; kind < machine.links.size(); ++kind) {
    const LinkModel& link = machine.links[kind];
    table.Add({absl::StrCat("kind ", kind), link.name,
               absl::StrCat("joins ", link.devices, "; ", RateText(link.bandwidth), " one way, ",
                            absl::StrFormat("%.3g us", 1e6 * link.latency))});
  }
  table.Add({"kernels", device.kernels_version.empty() ? "not measured" : "measured",
             device.kernels_version.empty() ? "shares of another device's"
                                            : absl::StrCat("version ", device.kernels_version)});
  if (machine.price > 0) {
    table.Add({"price", absl::StrFormat("%.2f", machine.price), "dollars an hour"});
  }
  return table.ToString();
}

struct DevicesFlags {
  bool json = false;
  std::string machine;
};

absl::Status Devices(const DevicesFlags& flags) {
  if (!flags.machine.empty()) {
    YUBA_ASSIGN_OR_RETURN(const Machine machine, FindMachine(flags.machine));
    std::cout << Text(machine);
    return absl::OkStatus();
  }
  const runtime::MachineFacts facts = runtime::FindDevices();
  std::cout << (flags.json ? Json(facts) : Text(facts));
  return absl::OkStatus();
}

}  // namespace

void AddDevices(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<DevicesFlags>();
  CLI::App* command = AddCommand(app, "devices", "what this machine has to run programs on");
  AddJson(command, flags->json);
  command
      ->add_option("--machine", flags->machine,
                   "in place of what is found, what this machine file says, or one that is built "
                   "in: hgx-h100, hgx-h100:8 for eight nodes, mine.json")
      ->excludes("--json");
  command
      ->add_option_function<std::string>(
          "--cuda-libs", [](const std::string& folder) { cuda::SetLibraryFolder(folder); },
          "a folder in which cuBLAS, cuDNN and NCCL are looked for first")
      ->check(CLI::ExistingDirectory);
  OnRun(command, exit_code, [flags] { return Devices(*flags); });
}

}  // namespace yuba::tools
