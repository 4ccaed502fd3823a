#include "tools/command.h"

#include <zlib.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/optional.h"
#include "compiler/phases.h"
#include "opsemantics/base/status.h"
#include "tools/command_line.h"
#include "tools/exit_code.h"
#include "tools/flags/plan_options.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {

CLI::App* AddCommand(CLI::App& app, const char* name, const char* help) {
  return app.add_subcommand(name, help);
}

void AddPlanFile(CLI::App* command, std::string& plan) {
  command->add_option("plan", plan, "the plan file")->required();
}

void AddJson(CLI::App* command, bool& json) { command->add_flag("--json", json, "print JSON"); }

void OnRun(CLI::App* app, int& exit_code, Action action) {
  OneValueAtATime(app);
  app->callback([app, &exit_code, action = std::move(action)] {
    absl::Status status = RefuseEmptyValues(*app);
    if (status.ok()) {
      const CLI::Option* asked = app->get_option_no_throw("--progress");
      absl::optional<ProgressLine> progress;
      if (asked != nullptr) progress.emplace(asked->count() > 0);
      status = action();
    }
    exit_code = ExitCode(status);
    if (!status.message().empty()) {
      std::string name = app->get_name();
      for (const CLI::App* up = app->get_parent(); up != nullptr; up = up->get_parent()) {
        name = absl::StrCat(up->get_name(), " ", name);
      }
      std::cerr << name << ": " << status.message() << "\n";
    }
  });
}

std::map<std::string, std::string> ContentHashes(const onnx::ImportOptions& options) {
  std::map<std::string, std::string> hashes;
  for (const auto& [name, value] : options.bind) {
    const auto* data = reinterpret_cast<const Bytef*>(value.data.data());
    hashes[name] = absl::StrFormat("%08x%08x", crc32_z(0, data, value.data.size()),
                                   adler32_z(1, data, value.data.size()));
  }
  return hashes;
}

void WarnOfNewOpset(const compiler::Model& model) {
  if (model.opset <= onnx::kNewestOpset) return;
  std::cerr << "warning: " << model.file << " is of opset " << model.opset << "; up to "
            << onnx::kNewestOpset << " is known, and what changed since is not: compare outputs "
            << "with `yuba run --expect`, or export the model for opset " << onnx::kNewestOpset
            << "\n";
}

absl::StatusOr<compiler::CompileRequest> RequestOf(const ModelFlags& flags,
                                                   const OperatorLibrary& library) {
  compiler::CompileRequest request;
  request.model_file = flags.file;
  YUBA_ASSIGN_OR_RETURN(request.import, ImportOptionsOf(flags, library));
  request.training = SettingsOf(flags);
  return request;
}

absl::StatusOr<LoadedModel> LoadModel(const ModelFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(OperatorLibrary library, LoadLibrary(flags.operators));
  compiler::Compilation compilation;
  YUBA_ASSIGN_OR_RETURN(compilation.request, RequestOf(flags, library));
  compiler::PhaseOptions options;
  options.to = "cluster";
  YUBA_RETURN_IF_ERROR(compiler::RunPhases(options, compilation));
  WarnOfNewOpset(compilation.model);
  return LoadedModel{std::move(library), std::move(compilation.model),
                     ContentHashes(compilation.request.import)};
}

}  // namespace yuba::tools
