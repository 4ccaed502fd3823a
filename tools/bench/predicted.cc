// yuba-bench predicted: steps of models of the zoo on virtual devices of this host, measured,
// beside what a machine file says that they take. Markdown.
//
// Plans are for the fewest bytes, so that what is measured does not depend on the machine file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/search_model.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "runtime/model/predict.h"
#include "runtime/session.h"
#include "tools/bench/machine.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/bench/subcommands.h"
#include "tools/calibrate/repeats.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/program/build_program.h"
#include "tools/zoo/zoo.h"

namespace yuba::tools {
namespace {

// Sizes whose steps take some 5 ms to 1 s on two processors.
struct BenchedModel {
  const char* family;
  zoo::Sizes sizes;
};

std::vector<BenchedModel> Models() {
  const zoo::Sizes text = {{"batch", 4},    {"heads", 4},   {"layers", 4},
                           {"vocab", 1000}, {"width", 256}, {"sequence", 128}};
  zoo::Sizes llama = text;
  llama["kv-heads"] = 2;
  llama["feed-forward"] = 688;
  return {{"mlp", {{"batch", 256}}},
          {"bert", text},
          {"gpt", text},
          {"llama", llama},
          {"rnn",
           {{"batch", 64},
            {"classes", 512},
            {"inputs", 512},
            {"layers", 2},
            {"sequence", 8},
            {"width", 512}}},
          {"wresnet", {{"batch", 2}, {"image", 112}, {"layers", 50}}}};
}

constexpr int kDevices[] = {1, 2, 8};
constexpr char kOptimizer[] = "adam";

struct PredictedFlags {
  std::string machine, output;
  std::vector<std::string> models;  // families; empty: all
  double seconds = 2;               // of steps, at least
};

// What the devices did in a step, as a mean over them.
struct Split {
  double products = 0, convolutions = 0, rest = 0, exchanges = 0, waiting = 0;
};

struct Measured {
  double seconds = 0;  // the median
  Split split;         // each the median
};

double OfClass(const double (&kernels)[kKernelClasses], KernelClass kernel_class) {
  return kernels[static_cast<int>(kernel_class)];
}

Split SplitOf(const double (&kernels)[kKernelClasses], double exchanges, double waiting) {
  return {OfClass(kernels, KernelClass::kProduct), OfClass(kernels, KernelClass::kConvolution),
          OfClass(kernels, KernelClass::kMap) + OfClass(kernels, KernelClass::kReduction),
          exchanges, waiting};
}

absl::StatusOr<Measured> Measure(const std::shared_ptr<runtime::LoadedProgram>& program,
                                 double seconds) {
  constexpr int kWarm = 3;
  constexpr size_t kLeast = 9, kMost = 101;
  YUBA_ASSIGN_OR_RETURN(const auto session, runtime::Session::Open(program, runtime::RunOptions()));
  YUBA_RETURN_IF_ERROR(session->Randomize(1));
  for (int i = 0; i < kWarm; ++i) YUBA_RETURN_IF_ERROR(session->Step());
  std::vector<double> steps;
  std::vector<Split> splits;
  const auto start = Clock::now();
  while (steps.size() < kLeast || (steps.size() < kMost && SecondsSince(start) < seconds)) {
    YUBA_RETURN_IF_ERROR(session->Step());
    const runtime::Statistics found = session->statistics();
    steps.push_back(found.seconds);
    splits.push_back(SplitOf(found.kernel_seconds, found.copy_seconds, found.wait_seconds));
  }
  Measured measured;
  measured.seconds = MedianOf(steps);
  for (double Split::* part :
       {&Split::products, &Split::convolutions, &Split::rest, &Split::exchanges, &Split::waiting}) {
    std::vector<double> values;
    for (const Split& split : splits) values.push_back(split.*part);
    measured.split.*part = MedianOf(values);
  }
  return measured;
}

absl::StatusOr<std::shared_ptr<runtime::LoadedProgram>> ProgramOf(const LoadedModel& loaded,
                                                                  int devices) {
  compiler::Model model = loaded.model;
  search::SearchOptions options;
  options.mesh = MeshOf(devices);
  options.copies = true;
  YUBA_ASSIGN_OR_RETURN(const search::Plan plan, compiler::SearchModel(options, model));
  YUBA_ASSIGN_OR_RETURN(program::Program program,
                        BuildProgram(model, plan, kernels::KernelChoice(), /*verify=*/false));
  return runtime::LoadedProgram::FromMessage(std::move(program));
}

std::string Cells(const Measured& measured, const runtime::Prediction& predicted) {
  const Split split =
      SplitOf(predicted.kinds.kernels, predicted.kinds.exchanges, predicted.kinds.waiting);
  const auto cell = [](double found, double said) {
    return absl::StrFormat(" %.1f / %.1f |", 1e3 * found, 1e3 * said);
  };
  return absl::StrCat(
      absl::StrFormat(" %.1f | %.1f | %.2f |", 1e3 * measured.seconds, 1e3 * predicted.seconds,
                      predicted.seconds / measured.seconds),
      cell(measured.split.products, split.products),
      cell(measured.split.convolutions, split.convolutions), cell(measured.split.rest, split.rest),
      cell(measured.split.exchanges, split.exchanges), cell(measured.split.waiting, split.waiting));
}

bool IsAsked(const PredictedFlags& flags, const std::string& family) {
  return flags.models.empty() || std::count(flags.models.begin(), flags.models.end(), family) > 0;
}

// How far quotients are off 1, as the larger of quotient and 1 / quotient, less 1.
std::string Summary(const std::vector<double>& quotients, double others) {
  std::vector<double> off;
  int near = 0;
  for (const double quotient : quotients) {
    off.push_back(std::max(quotient, 1 / quotient) - 1);
    near += off.back() <= 0.2 ? 1 : 0;
  }
  return absl::StrFormat(
      "\n%d of %d within 20 %%, median %.0f %% off, largest %.0f %%. Others used %.0f %% of the "
      "processors meanwhile.\n",
      near, off.size(), 100 * MedianOf(off), 100 * *std::max_element(off.begin(), off.end()),
      100 * others);
}

absl::Status Compare(const PredictedFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(const Machine machine, FindMachine(flags.machine));
  if (!flags.output.empty()) YUBA_RETURN_IF_ERROR(CheckOutput(flags.output));
  const OthersShare others;
  std::vector<double> quotients;
  std::string text = absl::StrCat(
      "Made by `yuba-bench predicted --machine ", flags.machine, "` on ", MachineName(),
      ". Milliseconds, medians; in the split means over the devices, measured / predicted; maps "
      "with reductions.\n\n| model | devices | measured | predicted | quotient | products | "
      "convolutions | maps | exchanges | waiting |\n|---|---|---|---|---|---|---|---|---|---|\n");
  std::cout << text << std::flush;
  for (const BenchedModel& benched : Models()) {
    if (!IsAsked(flags, benched.family)) continue;
    for (const std::string optimizer : {"", kOptimizer}) {
      YUBA_ASSIGN_OR_RETURN(const auto loaded,
                            BenchModelOf(benched.family, benched.sizes, optimizer));
      for (const int devices : kDevices) {
        const std::string name =
            absl::StrCat(benched.family, optimizer.empty() ? " forward" : " training");
        YUBA_ASSIGN_OR_RETURN(const auto program, ProgramOf(*loaded, devices));
        YUBA_ASSIGN_OR_RETURN(const runtime::Prediction predicted,
                              PredictStep(*program, machine, runtime::OneProcessPolicy()));
        YUBA_ASSIGN_OR_RETURN(const Measured measured, Measure(program, flags.seconds));
        quotients.push_back(predicted.seconds / measured.seconds);
        const std::string row =
            absl::StrCat("| ", name, " | ", devices, " |", Cells(measured, predicted), "\n");
        absl::StrAppend(&text, row);
        std::cout << row << std::flush;
      }
    }
  }
  if (quotients.empty()) return UserError("--model: none of them is a model of this benchmark");
  const std::string summary = Summary(quotients, others.Share());
  std::cout << summary;
  if (flags.output.empty()) return absl::OkStatus();
  return WriteFile(flags.output, absl::StrCat("# Predicted and measured steps\n\n", text, summary));
}

}  // namespace

void AddPredicted(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<PredictedFlags>();
  CLI::App* command =
      AddCommand(app, "predicted", "steps of models on this host, predicted beside measured");
  command->add_option("--machine", flags->machine, "a machine file of this host, or a name")
      ->required();
  command->add_option("-o,--output", flags->output, "write the table here too");
  command->add_option("--model", flags->models,
                      "mlp, bert, gpt, llama, rnn or wresnet; default: all");
  command->add_option("--seconds", flags->seconds, "of steps of each program; default: 2")
      ->check(CLI::PositiveNumber);
  OnRun(command, exit_code, [flags] { return Compare(*flags); });
}

}  // namespace yuba::tools
