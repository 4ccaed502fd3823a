// yuba-run: runs a compiled program on a machine without the compiler.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/tensor_data.h"
#include "runtime/program/program.h"
#include "tools/exit_code.h"
#include "tools/parse_and_run.h"
#include "tools/report/text_table.h"
#include "tools/run/describe.h"
#include "tools/run/predict_command.h"
#include "tools/run/ranks.h"
#include "tools/run/run_command.h"

namespace {

// The user's error for files with other values of numbers that are part of the program's code.
absl::Status OtherCode(const yuba::tools::RunFlags& flags,
                       const std::map<std::string, yuba::TensorData>& numbers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : numbers)
    names.push_back(absl::StrCat(name, " (", yuba::ValueAt(value, 0), ")"));
  return yuba::UserError(flags.resume.empty() ? flags.weights : flags.resume,
                         ": has another value of ", yuba::tools::FirstOf(names), ", which ",
                         names.size() == 1 ? "is" : "are",
                         " part of the program's code: plan and compile the model that yuba export "
                         "--weights makes of ",
                         "it, or give it to yuba run");
}

absl::Status Run(const std::string& file, const yuba::tools::RunFlags& flags,
                 yuba::runtime::Job* job) {
  absl::StatusOr<std::shared_ptr<yuba::runtime::LoadedProgram>> program =
      yuba::runtime::LoadedProgram::FromFile(file);
  if (!program.ok()) return program.status();
  if (job != nullptr) {
    const absl::Status one = job->MustAgree((*program)->Fingerprint(), "program");
    if (!one.ok()) return one;
  }
  if (flags.backend == yuba::tools::kModelBackend) {
    const absl::StatusOr<yuba::Machine> machine = yuba::tools::MachineToPredict(flags);
    return machine.ok() ? yuba::tools::PredictProgram(**program, *machine, flags)
                        : machine.status();
  }
  absl::StatusOr<yuba::tools::RunFiles> files =
      yuba::tools::ReadRunFiles(flags, yuba::tools::PortsOf((*program)->message()));
  if (!files.ok()) return files.status();
  if (!files->numbers.empty()) return OtherCode(flags, files->numbers);
  return yuba::tools::RunProgram(*program, flags, *std::move(files), job);
}

absl::Status Describe(const std::string& file, bool json) {
  const absl::StatusOr<std::shared_ptr<yuba::runtime::LoadedProgram>> program =
      yuba::runtime::LoadedProgram::FromFile(file);
  if (!program.ok()) return program.status();
  std::cout << (json ? yuba::tools::JsonDescriptionOf(**program)
                     : yuba::tools::DescriptionOf(**program));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs a program that `yuba compile` wrote.", "yuba-run");
  std::string file;
  yuba::tools::RunFlags flags;
  app.add_option("program", file, "the program, a .yuba file")->required();
  bool describe = false;
  app.add_flag("--describe", describe,
               "print what the program is for and what it needs, and run nothing");
  yuba::tools::AddRunFlags(&app, flags);
  yuba::tools::OneValueAtATime(&app);
  return yuba::tools::ParseAndRun(app, argc, argv, [&] {
    absl::Status status = yuba::tools::RefuseEmptyValues(app);
    const auto run = [&](yuba::runtime::Job* job) { return Run(file, flags, job); };
    const auto devices = [&] {
      const auto program = yuba::runtime::LoadedProgram::FromFile(file);
      return program.ok() ? (*program)->devices() : 0;
    };
    if (status.ok()) {
      status = describe ? Describe(file, flags.json)
                        : yuba::tools::RunAsRank("yuba-run", flags, devices, run);
    }
    if (!status.message().empty()) std::cerr << "yuba-run: " << status.message() << "\n";
    return yuba::tools::ExitCode(status);
  });
}
