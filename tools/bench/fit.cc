// yuba-bench fit: kernel models from kernels that were timed elsewhere, and how far they are off.
//
// A file of samples is a JSON list; a sample is {"program": "gpt2 forward", "name": "h.0.mlp",
// "class": "product", "library": true, "type": "f32", "operations": 2e9, "bytes": 1e7, "results":
// 1e6, "seconds": 4e-5}.
#include "tools/calibrate/fit.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "opsemantics/base/files.h"
#include "opsemantics/base/json_reader.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "opsemantics/machine/machine_words.h"
#include "tools/bench/subcommands.h"
#include "tools/calibrate/machine_text.h"
#include "tools/calibrate/quality_report.h"
#include "tools/command.h"

namespace yuba::tools {
namespace {

struct FitFlags {
  std::string samples, machine;
  std::vector<std::string> judge;
};

using Programs = std::map<std::string, std::vector<KernelSample>>;

KernelSample ReadSample(const JsonReader& row) {
  constexpr double kMost = 1e30;
  KernelSample sample;
  sample.name = row.Field("name").String();
  KernelWork& work = sample.work;
  const std::string name = row.Field("class").String();
  int c = 0;
  while (c < kKernelClasses && name != KernelClassName(static_cast<KernelClass>(c))) ++c;
  if (c == kKernelClasses) row.Field("class").Fail("product, convolution, map or reduction");
  work.kernel_class = static_cast<KernelClass>(c % kKernelClasses);
  work.library = row.Field("library").Bool();
  const absl::optional<ElementType> type = ElementTypeFromName(row.Field("type").String());
  if (!type.has_value()) row.Field("type").Fail("an element type");
  work.type = type.value_or(ElementType::kF32);
  work.operations = row.Field("operations").Number(0, kMost, "operations");
  work.bytes = row.Field("bytes").Number(0, kMost, "bytes");
  work.results = row.Field("results").Number(0, kMost, "elements");
  sample.seconds = row.Field("seconds").Number(1e-12, kMost, "seconds");
  return sample;
}

absl::StatusOr<Programs> ReadSamples(const std::string& file) {
  YUBA_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const absl::StatusOr<nlohmann::json> json = ParseJson(text);
  if (!json.ok()) return Annotate(json.status(), file);
  absl::Status status;
  Programs programs;
  for (const JsonReader& row : JsonReader(*json, &status).Items()) {
    programs[row.Field("program").String()].push_back(ReadSample(row));
    if (!status.ok()) return Annotate(status, file);
  }
  if (!status.ok()) return Annotate(status, file);
  return programs;
}

absl::Status Fit(const FitFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(Machine machine, FindMachine(flags.machine));
  YUBA_ASSIGN_OR_RETURN(const Programs programs, ReadSamples(flags.samples));
  for (const std::string& program : flags.judge) {
    if (programs.count(program) == 0) {
      return UserError("--judge ", program, ": ", flags.samples, " has no such program");
    }
  }
  std::vector<KernelSample> samples;
  for (const auto& [program, kernels] : programs) {
    if (std::count(flags.judge.begin(), flags.judge.end(), program) > 0) continue;
    samples.insert(samples.end(), kernels.begin(), kernels.end());
  }
  FitKernels(samples, machine.device);
  std::cout << MachineText(machine, "fitted", flags.samples);
  for (const auto& [program, kernels] : programs) {
    const bool judged = std::count(flags.judge.begin(), flags.judge.end(), program) > 0;
    std::cerr << "\n"
              << program << (judged ? ", which the fit has not seen" : "") << "\n"
              << QualityReport(kernels, machine.device);
  }
  return absl::OkStatus();
}

}  // namespace

void AddFit(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<FitFlags>();
  CLI::App* command = AddCommand(app, "fit", "fit a machine's kernel models to samples");
  command->add_option("samples", flags->samples, "a file of samples")->required();
  command->add_option("--machine", flags->machine, "the machine whose kernels they are")
      ->required();
  command->add_option("--judge", flags->judge, "a program that the fit is not to see");
  OnRun(command, exit_code, [flags] { return Fit(*flags); });
}

}  // namespace yuba::tools
