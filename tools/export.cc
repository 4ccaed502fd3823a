// yuba export: trained weights back into the model's file.
#include <iostream>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/import/file/replace_values.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

struct ExportFlags {
  std::string model, weights, output;
  std::vector<std::string> ties;
};

absl::Status Export(const ExportFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(const auto weights, ReadWeights(flags.weights));
  std::vector<onnx::TiedNames> ties;
  for (const std::string& tie : flags.ties) {
    const std::vector<std::string> names = absl::StrSplit(tie, absl::MaxSplits('=', 1));
    if (names.size() != 2) return UserError("--tie ", tie, ": expected two names, A=B");
    ties.push_back({names[0], names[1]});
  }
  YUBA_ASSIGN_OR_RETURN(const onnx::ReplacedValues replaced,
                        onnx::ReplaceValues(flags.model, weights, ties));
  YUBA_RETURN_IF_ERROR(WriteFile(flags.output, replaced.model));
  std::cout << "wrote " << flags.output << " ("
            << Bytes(static_cast<int64_t>(replaced.model.size())) << ") with "
            << Counted(replaced.replaced, "new value") << "\n";
  if (!replaced.unused.empty()) {
    std::cout << "not in the model: " << absl::StrJoin(replaced.unused, ", ") << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddExport(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command =
      app.add_subcommand("export", "write trained weights back into a model's file");
  command->add_option("model", flags->model, "the model, an ONNX file")->required();
  command
      ->add_option("--weights", flags->weights,
                   "new values of initializers by name, a file of safetensors or a folder with "
                   "several and an index, as yuba run --save writes them")
      ->required();
  command
      ->add_option("--tie", flags->ties,
                   "A=B, as yuba partition had it: A gets the new value of B too")
      ->take_all();
  command
      ->add_option("-o,--output", flags->output,
                   "the new ONNX file; beside the model where that has data in other files")
      ->required();
  OnRun(command, exit_code, [flags] { return Export(*flags); });
}

}  // namespace yuba::tools
