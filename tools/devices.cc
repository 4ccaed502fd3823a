// yuba devices: what does this machine have to run programs on, and what is missing for what?
#include "runtime/devices.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime/cuda/library_folders.h"
#include "tools/command.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

std::string Json(const runtime::MachineFacts& facts) {
  nlohmann::ordered_json json;
  json["processors"] = facts.processors;
  json["virtual_devices"] = facts.virtual_devices;
  json["gpus"] = nlohmann::ordered_json::array();
  for (const cuda::GpuFacts& gpu : facts.gpus) {
    json["gpus"].push_back({{"name", gpu.name}, {"memory", gpu.memory}, {"sm", gpu.sm}});
  }
  json["no_gpu"] = facts.no_gpu;
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

}  // namespace

void AddDevices(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = AddCommand(app, "devices", "what this machine has to run programs on");
  AddJson(command, *json);
  command
      ->add_option_function<std::string>(
          "--cuda-libs", [](const std::string& folder) { cuda::SetLibraryFolder(folder); },
          "a folder in which cuBLAS and NCCL are looked for first")
      ->check(CLI::ExistingDirectory);
  OnRun(command, exit_code, [json] {
    const runtime::MachineFacts facts = runtime::FindDevices();
    std::cout << (*json ? Json(facts) : Text(facts));
    return absl::OkStatus();
  });
}

}  // namespace yuba::tools
