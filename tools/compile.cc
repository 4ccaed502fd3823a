// yuba compile: writes a program that yuba-run can run on a machine without the compiler.
#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "compiler/kernels/add_kernels.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/flags/kernel_flags.h"
#include "tools/program/build_program.h"
#include "tools/report/json_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

struct CompileFlags {
  ModelFlags model;
  std::string plan, output, dump;
  std::string target = kernels::HostTarget().name;
  std::string cpu;
  std::string values = "copy";
  bool hash = false;
  KernelFlags kernels;
  bool no_verify = false;
  bool json = false;
};

absl::Status Compile(const CompileFlags& flags, nlohmann::ordered_json& report) {
  const std::string output =
      flags.output.empty() ? WithExtension(flags.model.file, ".yuba") : flags.output;
  YUBA_RETURN_IF_ERROR(CheckOutput(output));
  YUBA_ASSIGN_OR_RETURN(PlannedModel planned, LoadPlanned(flags.model, flags.plan));
  YUBA_RETURN_IF_ERROR(CheckOutput(output));  // not before all inputs are known
  kernels::KernelChoice choice = ChoiceOf(flags.kernels);
  choice.target = kernels::KernelTarget(*kernels::FindTarget(flags.target));
  if (!flags.cpu.empty()) choice.target.cpu = flags.cpu;
  choice.target.dump_dir = flags.dump;
  if (flags.hash) choice.target.arithmetic = Arithmetic::kHash;
  YUBA_ASSIGN_OR_RETURN(const WrittenProgram written,
                        WriteProgram(planned.loaded.model, planned.plan, choice, !flags.no_verify,
                                     flags.values == "copy" ? runtime::FileValues::kCopy
                                                            : runtime::FileValues::kReference,
                                     output));
  ProgressLine::End();
  const program::Program& program = written.program;
  int generated = 0, opaque = 0, library = 0, both = 0;  // both: code beside a library call
  for (const auto& function : program.functions()) {
    const bool code = !function.symbol().empty();
    generated += code && !function.has_library();
    opaque += function.has_opaque();
    library += function.has_library();
    both += code && function.has_library();
  }
  report = {{"output", output},
            {"bytes", written.file_bytes},
            {"values", flags.values},
            {"instructions", program.instructions_size()},
            {"generated_kernels", generated},
            {"library_routines", library},
            {"library_routines_with_code", both},
            {"opaque_functions", opaque},
            {"devices", planned.plan.mesh.devices()},
            {"target", program.target()},
            {"processor", program.processor()}};
  if (flags.json) return absl::OkStatus();
  std::cout << "wrote " << output << " (" << Bytes(written.file_bytes)
            << "): " << Counted(program.instructions_size(), "instruction") << ", "
            << Counted(generated, "generated kernel") << ", " << Counted(library, "library routine")
            << (both == 0 ? "" : absl::StrCat(" (", both, " with code beside them)")) << ", "
            << (opaque == 0 ? "" : Counted(opaque, "opaque function") + ", ") << "for "
            << Counted(planned.plan.mesh.devices(), "device") << ", target " << program.target()
            << " (" << program.processor() << ")\n";
  return absl::OkStatus();
}

}  // namespace

void AddCompile(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CompileFlags>();
  CLI::App* command = AddCommand(app, "compile", "write a program for yuba-run");
  AddPlannedModelFlags(command, flags->model);
  AddPlanFile(command, flags->plan);
  command->add_option("--target", flags->target, "for the back end of this name")
      ->check(CLI::IsMember(kernels::TargetNames()))
      ->capture_default_str();
  command->add_option("--target-cpu", flags->cpu, "processor: x86-64-v3, ... or sm_80, sm_90");
  command
      ->add_option("--values", flags->values,
                   "copy: the program holds the model's weights and can be moved; reference: they "
                   "stay in the model's files, whose paths it holds")
      ->check(CLI::IsMember({"copy", "reference"}))
      ->capture_default_str();
  command->add_flag("--hash-arithmetic", flags->hash,
                    "compute with elements of Z/2^64 in place of floats, so that runs on other "
                    "machines and cut otherwise give the same bits");
  command->add_flag("--no-verify", flags->no_verify,
                    "do not prove the program before it is written");
  AddKernelFlags(command, flags->kernels);
  command->add_option("--dump-kernels", flags->dump, "write each kernel's stages into this folder");
  command->add_option("-o,--output", flags->output,
                      "the program file; default: beside the model's name");
  AddJson(command, flags->json);
  OnRun(command, exit_code, [flags] {
    nlohmann::ordered_json report;
    return Reported(flags->json, Compile(*flags, report), report);
  });
}

}  // namespace yuba::tools
