// yuba verify: proves that the program of a plan computes what the whole model computes. First the
// coverage of the program, without data; then both run in hash arithmetic on virtual devices and
// are compared bit for bit.
#include <algorithm>
#include <climits>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "compiler/import/options.h"
#include "compiler/kernels/add_kernels.h"
#include "compiler/model.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/structure.h"
#include "runtime/host/host_backend.h"
#include "runtime/program/program.pb.h"
#include "runtime/session.h"
#include "tools/build_program.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/report/json_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"

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

// The most floating point operations that `--scale auto` runs, whole and cut: some seconds of work.
constexpr int64_t kAutoFlops = 20'000'000'000;

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

absl::StatusOr<std::vector<TensorData>> Outputs(const compiler::Model& model,
                                                program::Program program,
                                                const VerifyFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(std::shared_ptr<const runtime::LoadedProgram> loaded,
                        runtime::LoadedProgram::FromMessage(std::move(program)));
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Session> session,
                        runtime::Session::Open(loaded, runtime::RunOptions()));
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
  if (!flags.json)
    std::cout << "hash    " << (elements == 1 ? "the " : "all ") << Counted(elements, "element")
              << " of " << Counted(whole.size(), "output") << (elements == 1 ? " is" : " are")
              << " equal bit for bit, whole against cut, in arithmetic without rounding"
              << (steps > 1 ? absl::StrCat(", after ", steps, " steps") : "")
              << (model.graph.entries.size() > 1 ? " of each entry" : "") << "\n";
  return absl::OkStatus();
}

absl::Status Verify(const VerifyFlags& flags, nlohmann::ordered_json& report) {
  YUBA_ASSIGN_OR_RETURN(PlannedModel planned, LoadPlanned(flags.model, flags.plan));
  if (flags.scale != "cover" && planned.plan.mesh.devices() > runtime::kMostVirtualDevices) {
    return UserError("the plan is for ", planned.plan.mesh.devices(), " devices; at most ",
                     runtime::kMostVirtualDevices,
                     " virtual ones run in one process: --scale cover asks ",
                     "for the cover alone");
  }
  const compiler::Model& model = planned.loaded.model;
  kernels::KernelChoice choice;
  choice.target.arithmetic = Arithmetic::kHash;
  auto proved = BuildWithoutKernels(model, planned.plan, choice, true);
  if (!proved.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the program does not cover the model: ", proved.status().message()));
  }
  program::Program program = *std::move(proved);
  report["cover"] = "whole";
  report["devices"] = planned.plan.mesh.devices();
  report["instructions"] = program.stages(0).instructions_size();
  report["hash"] = "left out";
  if (!flags.json)
    std::cout << "cover   every element read is there, every element written once, on "
              << (planned.plan.mesh.devices() == 1 ? "" : "all ")
              << Counted(planned.plan.mesh.devices(), "device") << " ("
              << Counted(program.stages(0).instructions_size(), "instruction") << ")\n";
  report["flops"] = model.flops;
  if (flags.scale == "cover") {
    if (!flags.json)
      std::cout << "hash    left out, as --scale cover asks: equality is not proved\n";
    return absl::OkStatus();
  }
  if (flags.scale == "auto" && model.flops > kAutoFlops) {
    return absl::FailedPreconditionError(absl::StrCat(
        "equality is not proved, the cover alone is: the hash run is left out, as ",
        Count(model.flops),
        "FLOP would take minutes; --scale full runs it, --scale cover asks for the cover alone"));
  }
  std::cerr << "generating kernels ...\n";
  compiler::Model uncut = model;
  uncut.graph = planned.whole;
  YUBA_ASSIGN_OR_RETURN(program::Program whole,
                        BuildProgram(uncut, WholePlan(uncut.graph), choice, true));
  YUBA_RETURN_IF_ERROR(kernels::AddKernels(model, choice, program));
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorData> expected,
                        Outputs(model, std::move(whole), flags));
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorData> actual,
                        Outputs(model, std::move(program), flags));
  return Compare(model, expected, actual, flags, report);
}

}  // namespace

void AddVerify(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command =
      app.add_subcommand("verify", "prove that the cut program equals the whole model");
  AddModelFlags(command, flags->model);
  command->add_option("plan", flags->plan, "the plan file")->required();
  command
      ->add_option(
          "--scale", flags->scale,
          "auto: no proof where it would take minutes; full: run it; cover: the cover alone")
      ->check(CLI::IsMember({"auto", "full", "cover"}))
      ->capture_default_str();
  command->add_option("--seed", flags->seed, "of the values")->check(Seed())->capture_default_str();
  command
      ->add_option("--steps", flags->steps,
                   "steps to run; default: 3 where a step changes what it keeps, else 1")
      ->check(WholeNumber(1, INT_MAX));
  command->add_flag("--json", flags->json, "print JSON");
  OnRun(command, exit_code, [flags] {
    nlohmann::ordered_json report;
    return Reported(flags->json, Verify(*flags, report), report);
  });
}

}  // namespace yuba::tools
