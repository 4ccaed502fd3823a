// yuba verify: proves that the program of a plan computes what the whole model computes. First the
// coverage of the program, without data; then its kernels, on parts of their work; then program and
// model run in hash arithmetic on virtual devices and are compared bit for bit. The last step takes
// as long as the model is large: it is left out where it would take more than a minute.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/import/options.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/model.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/structure.h"
#include "runtime/available_memory.h"
#include "runtime/host/host_backend.h"
#include "runtime/program/program.pb.h"
#include "runtime/session.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/program/build_program.h"
#include "tools/report/json_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"
#include "tools/terminal/progress_line.h"
#include "tools/verify/sampled_kernels.h"

namespace yuba::tools {
namespace {

struct VerifyFlags {
  ModelFlags model;
  std::string plan;
  std::string scale = "auto";
  uint64_t seed = 1;
  int steps = 0;  // 0: StepsFor
  bool json = false;
};

// The longest run, whole and cut together, that `--scale auto` begins: with what comes before it,
// and other work on the machine, it ends within a minute. And the most that it may take of the
// memory that is available.
constexpr double kAutoSeconds = 25;
constexpr double kAutoMemory = 0.8;

// States are compared after so many steps: a first one reads none that another step wrote.
constexpr int kStepsWithStates = 3;

int StepsFor(const VerifyFlags& flags, const Graph& graph) {
  if (flags.steps > 0) return flags.steps;
  return std::any_of(graph.tensors.begin(), graph.tensors.end(), IsCarried) ? kStepsWithStates : 1;
}

// How often the entry runs in a step: those that add up gradients of micro-batches as often as the
// training step asks for, others once.
int64_t RunsInStep(const compiler::Model& model, const Entry& entry) {
  const std::vector<Entry>& entries = model.graph.entries;
  const bool adds_up = entry.name == onnx::kMicroEntry && entries.back().name == onnx::kTrainEntry;
  return adds_up ? entry.times / entries.back().times : 1;
}

absl::StatusOr<std::vector<TensorData>> Outputs(
    const compiler::Model& model, std::shared_ptr<const runtime::LoadedProgram> program,
    const VerifyFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Session> session,
                        runtime::Session::Open(std::move(program), runtime::RunOptions()));
  YUBA_RETURN_IF_ERROR(session->Randomize(flags.seed));
  for (int step = 0; step < StepsFor(flags, model.graph); ++step) {
    for (const Entry& entry : model.graph.entries) {
      for (int64_t run = 0; run < RunsInStep(model, entry); ++run) {
        YUBA_RETURN_IF_ERROR(session->Step(entry.name));
      }
    }
  }
  std::vector<TensorData> outputs;
  for (TensorId id : model.graph.outputs) {
    YUBA_ASSIGN_OR_RETURN(TensorData tensor, session->Get(OutputName(model.graph.tensors[id])));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

absl::Status Compare(const compiler::Model& model, const std::vector<TensorData>& whole,
                     const std::vector<TensorData>& cut, const VerifyFlags& flags,
                     nlohmann::ordered_json& report) {
  int64_t elements = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    const std::string& name = OutputName(model.graph.tensors[model.graph.outputs[i]]);
    if (whole[i].data != cut[i].data) {
      int64_t wrong = 0;
      const int64_t bytes = ByteSize(whole[i].type);
      const int64_t count = static_cast<int64_t>(whole[i].data.size()) / bytes;
      for (int64_t e = 0; e < count; ++e) {
        wrong += whole[i].data.compare(e * bytes, bytes, cut[i].data, e * bytes, bytes) != 0;
      }
      report["hash"] = "differs";
      return absl::FailedPreconditionError(
          absl::StrCat("output ", name, " differs from the whole model's in ", wrong, " of ", count,
                       " elements: the plan or the program is wrong"));
    }
    elements += static_cast<int64_t>(whole[i].data.size()) / ByteSize(whole[i].type);
  }
  report["hash"] = "equal";
  report["elements"] = elements;
  report["outputs"] = whole.size();
  const int steps = StepsFor(flags, model.graph);
  report["steps"] = steps;
  if (!flags.json) {
    std::cout << "hash    " << (elements == 1 ? "the " : "all ") << Counted(elements, "element")
              << " of " << Counted(whole.size(), "output") << (elements == 1 ? " is" : " are")
              << " equal bit for bit, whole against cut, in arithmetic without rounding"
              << (steps > 1 ? absl::StrCat(", after ", steps, " steps") : "")
              << (model.graph.entries.size() > 1 ? " of each entry" : "") << "\n";
  }
  return absl::OkStatus();
}

// What the run of program and model in hash arithmetic takes on this machine.
struct RunCost {
  double seconds = 0;  // measured on parts of every kernel
  int64_t bytes = 0;   // the arenas of all devices
};

bool Fits(const RunCost& cost) {
  const auto available = static_cast<double>(runtime::MemoryAvailable().bytes);
  return cost.seconds <= kAutoSeconds && static_cast<double>(cost.bytes) <= kAutoMemory * available;
}

RunCost CostOf(const compiler::Model& model, const VerifyFlags& flags,
               const SampledKernels& sampled, const runtime::LoadedProgram& cut,
               const program::Program& whole) {
  int64_t runs = 0;
  for (const Entry& entry : model.graph.entries) runs += RunsInStep(model, entry);
  // The sampled seconds are of all entries once.
  const double steps = static_cast<double>(StepsFor(flags, model.graph)) *
                       static_cast<double>(runs) / static_cast<double>(model.graph.entries.size());
  RunCost cost;
  cost.seconds = 2 * sampled.seconds * steps / runtime::DefaultThreads(1);
  cost.bytes = std::max(cut.message().arena_size() * cut.devices(), whole.arena_size());
  return cost;
}

std::string Duration(double seconds) {
  if (seconds < 100) return absl::StrFormat("%.0f s", std::max(seconds, 1.0));
  if (seconds < 5400) return absl::StrFormat("%.0f min", seconds / 60);
  return absl::StrFormat("%.0f h", seconds / 3600);
}

std::string Text(const RunCost& cost) {
  return absl::StrCat("about ", Duration(cost.seconds), " and ", Bytes(cost.bytes));
}

void PrintCover(const program::Program& program, int devices) {
  std::cout << "cover   every element read is there, every element written once, on "
            << (devices == 1 ? "" : "all ") << Counted(devices, "device") << " ("
            << Counted(program.instructions_size(), "instruction") << ")\n";
}

void PrintSampled(const SampledKernels& sampled) {
  std::cout << "kernels " << Counted(sampled.functions, "function") << " of generated code "
            << (sampled.functions == 1 ? "computes" : "compute") << " on samples what "
            << (sampled.functions == 1 ? "its definition says" : "their definitions say") << " ("
            << Counted(sampled.elements, "element") << " equal bit for bit)";
  if (!sampled.left_out.empty()) {
    std::cout << "; not sampled, as they touch too much at once or are no generated code: those of "
              << absl::StrJoin(sampled.left_out, ", ");
  }
  std::cout << "\n";
}

// The hash run, or why it is left out.
absl::Status RunBoth(const PlannedModel& planned, const kernels::KernelChoice& choice,
                     std::shared_ptr<const runtime::LoadedProgram> cut,
                     const SampledKernels& sampled, const VerifyFlags& flags,
                     nlohmann::ordered_json& report) {
  const compiler::Model& model = planned.loaded.model;
  compiler::Model uncut = model;
  uncut.graph = planned.whole;
  YUBA_ASSIGN_OR_RETURN(program::Program whole,
                        BuildWithoutKernels(uncut, WholePlan(uncut.graph), choice, true));
  ProgressLine::End();
  const RunCost cost = CostOf(model, flags, sampled, *cut, whole);
  report["run_seconds_estimate"] = cost.seconds;
  report["run_bytes"] = cost.bytes;
  const bool many = cut->devices() > runtime::kMostVirtualDevices;
  if (flags.scale == "auto" && (many || !Fits(cost))) {
    if (!flags.json) {
      std::cout << "hash    not run: whole and cut would take " << Text(cost)
                << " here (measured). Cover and samples leave open what is not sampled, and the "
                   "runtime that moves the data; --scale full runs it\n";
    }
    return absl::OkStatus();
  }
  if (cost.seconds > 5) std::cerr << "running whole and cut, " << Text(cost) << " ...\n";
  ProgressLine::Begin(absl::StrCat("running the whole, of ", Text(cost), " in all"));
  YUBA_RETURN_IF_ERROR(kernels::AddKernels(uncut, choice, whole));
  YUBA_ASSIGN_OR_RETURN(std::shared_ptr<const runtime::LoadedProgram> loaded,
                        runtime::LoadedProgram::FromMessage(std::move(whole)));
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorData> expected,
                        Outputs(model, std::move(loaded), flags));
  ProgressLine::Begin(absl::StrCat("running the program, of ", Text(cost), " in all"));
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorData> actual,
                        Outputs(model, std::move(cut), flags));
  ProgressLine::End();
  return Compare(model, expected, actual, flags, report);
}

absl::Status CheckDevices(const VerifyFlags& flags, int devices) {
  if (flags.scale != "full" || devices <= runtime::kMostVirtualDevices) return absl::OkStatus();
  return UserError("the plan is for ", devices, " devices; at most ", runtime::kMostVirtualDevices,
                   " virtual ones run in one process: leave out --scale full");
}

absl::Status Verify(const VerifyFlags& flags, nlohmann::ordered_json& report) {
  YUBA_ASSIGN_OR_RETURN(PlannedModel planned, LoadPlanned(flags.model, flags.plan));
  const int devices = planned.plan.mesh.devices();
  YUBA_RETURN_IF_ERROR(CheckDevices(flags, devices));
  const compiler::Model& model = planned.loaded.model;
  kernels::KernelChoice choice;
  choice.target.arithmetic = Arithmetic::kHash;
  auto proved = BuildWithoutKernels(model, planned.plan, choice, true);
  if (!proved.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program does not cover the model: ", proved.status().message()));
  }
  ProgressLine::End();
  program::Program program = *std::move(proved);
  report["cover"] = "whole";
  report["devices"] = devices;
  report["instructions"] = program.instructions_size();
  report["hash"] = "left out";
  if (!flags.json) PrintCover(program, devices);
  report["flops"] = model.flops;
  if (flags.scale == "cover") {
    if (!flags.json) {
      std::cout << "hash    left out, as --scale cover asks: equality is not proved\n";
    }
    return absl::OkStatus();
  }
  ProgressLine::Begin("generating kernels");
  YUBA_RETURN_IF_ERROR(kernels::AddKernels(model, choice, program));
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<const runtime::LoadedProgram> loaded,
                        runtime::LoadedProgram::FromMessage(std::move(program)));
  ProgressLine::Begin("sampling kernels");
  YUBA_ASSIGN_OR_RETURN(const SampledKernels sampled,
                        SampleKernels(model.graph, *loaded, flags.seed));
  report["functions"] = sampled.functions;
  report["not_sampled"] = sampled.left_out;
  report["sampled_elements"] = sampled.elements;
  ProgressLine::End();
  if (!flags.json) PrintSampled(sampled);
  return RunBoth(planned, choice, loaded, sampled, flags, report);
}

}  // namespace

void AddVerify(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command =
      AddCommand(app, "verify", "prove that the cut program equals the whole model");
  AddPlannedModelFlags(command, flags->model);
  AddPlanFile(command, flags->plan);
  command
      ->add_option(
          "--scale", flags->scale,
          "auto: no run of the whole model where it would take more than a minute; full: run it; "
          "cover: the cover alone")
      ->check(CLI::IsMember({"auto", "full", "cover"}))
      ->capture_default_str();
  command->add_option("--seed", flags->seed, "of the values")
      ->transform(Seed())
      ->capture_default_str();
  command
      ->add_option("--steps", flags->steps,
                   "steps to run; default: 3 where a step changes what it keeps, else 1")
      ->transform(WholeNumber(1, INT_MAX));
  AddJson(command, flags->json);
  OnRun(command, exit_code, [flags] {
    nlohmann::ordered_json report;
    return Reported(flags->json, Verify(*flags, report), report);
  });
}

}  // namespace yuba::tools
