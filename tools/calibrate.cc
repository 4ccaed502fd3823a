// yuba calibrate: how fast is this machine? Measures kernels and exchanges, and writes a machine
// file.
#include "tools/calibrate/calibrate.h"

#include <CLI/CLI.hpp>
#include <ctime>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/mesh.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "opsemantics/machine/read_machine.h"
#include "tools/calibrate/machine_text.h"
#include "tools/calibrate/quality_report.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/subcommands.h"
#include "tools/version.h"

namespace yuba::tools {
namespace {

struct CalibrateFlags {
  std::string output, machine;
  int devices = 0;
};

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm date{};
  gmtime_r(&now, &date);
  return absl::StrFormat("%04d-%02d-%02d", 1900 + date.tm_year, 1 + date.tm_mon, date.tm_mday);
}

// The part of this machine's file name that becomes its name.
absl::StatusOr<std::string> NameOf(const std::string& output) {
  const std::string base = BaseName(output);
  const std::string name(absl::StripSuffix(base, ".json"));
  if (name == base || name.empty() || absl::StrContains(name, ":")) {
    return UserError("-o ", output, ": expected a name that ends in .json and has no colon");
  }
  return name;
}

absl::Status Write(const FoundMachine& found, const Machine& machine, const std::string& output) {
  const std::string source =
      absl::StrCat("yuba calibrate of ", kVersion, " on ", found.about, ", ", Today());
  const std::string text = MachineText(machine, found.about, source);
  const absl::StatusOr<Machine> read = ReadMachine(text);
  if (!read.ok()) {
    return InternalError("what was measured is no machine: ", read.status().message());
  }
  YUBA_RETURN_IF_ERROR(WriteFile(output, text));
  std::cout << "wrote " << output << ", a machine of " << machine.devices() << " "
            << machine.device.name << ", hash " << read->hash << "\n";
  return absl::OkStatus();
}

absl::Status Calibrate(const CalibrateFlags& flags) {
  if (flags.output.empty() && flags.machine.empty()) {
    return UserError(
        "nothing to do: -o FILE writes a machine file, --machine NAME says how far a "
        "known one is off this machine");
  }
  Machine known;
  std::string name;
  if (!flags.machine.empty()) {
    YUBA_ASSIGN_OR_RETURN(known, FindMachine(flags.machine));
  }
  if (!flags.output.empty()) {
    YUBA_ASSIGN_OR_RETURN(name, NameOf(flags.output));
    YUBA_RETURN_IF_ERROR(CheckOutput(flags.output));
  }
  YUBA_ASSIGN_OR_RETURN(const FoundMachine found, FindThisMachine(flags.devices));
  std::cout << "measuring " << found.about << std::endl;
  YUBA_ASSIGN_OR_RETURN(Measurement measured, MeasureMachine(found));
  std::cout << absl::StrFormat(
      "rounds differ by %.0f %% in the median, %.0f %% at most; others used %.0f %% of the "
      "processors\n",
      100 * measured.spread, 100 * measured.widest, 100 * measured.others);
  if (!flags.machine.empty()) {
    std::cout << "how far " << known.name << " is off what was measured:\n"
              << QualityReport(measured.kernels, OneProcessorOf(known.device));
  }
  if (flags.output.empty()) return absl::OkStatus();
  std::cout << "how far the fit is off what was measured:\n"
            << QualityReport(measured.kernels, OneProcessorOf(measured.machine.device));
  if (!measured.links.empty()) std::cout << "links     " << measured.links << "\n";
  measured.machine.name = name;
  return Write(found, measured.machine, flags.output);
}

}  // namespace

void AddCalibrate(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App* command =
      AddCommand(app, "calibrate", "measure this machine's kernels and links, for a machine file");
  command->add_option("-o,--output", flags->output, "the machine file, which ends in .json");
  command->add_option("--machine", flags->machine,
                      "say how far this machine file, or one that is built in, is off what is "
                      "measured here");
  command
      ->add_option("--devices", flags->devices,
                   "virtual devices, or GPUs, that exchange; default: 8, or all GPUs")
      ->check(WholeNumber(1, kMostPlannedDevices));
  OnRun(command, exit_code, [flags] { return Calibrate(*flags); });
}

}  // namespace yuba::tools
