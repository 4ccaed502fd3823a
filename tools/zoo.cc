// yuba zoo: writes a model of the zoo, or lists them.
#include "tools/zoo/zoo.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

struct ZooFlags {
  std::string name, output;
  zoo::Sizes sizes;  // by option, those that are given
  bool json = false;
};

std::string SizesText(const zoo::Sizes& sizes) {
  return absl::StrJoin(sizes, " ", [](std::string* out, const auto& size) {
    absl::StrAppend(out, size.first, "=", size.second);
  });
}

// One line a model: a family, then those of its models that have names, with the sizes in which
// they differ from it.
absl::Status List(bool json) {
  TextTable table(4);
  table.Add({"name", "parameters", "what it is, and its sizes"});
  nlohmann::ordered_json listed = nlohmann::ordered_json::array();
  const auto add = [&](const std::string& name, const zoo::Family& family,
                       const zoo::Sizes& shown) -> absl::Status {
    const std::string what = name == family.name ? absl::StrCat(family.what, ": ") : "";
    YUBA_ASSIGN_OR_RETURN(const zoo::ZooModel model, zoo::MakeModel(name, {}));
    const std::string count = Count(static_cast<double>(model.parameters));
    table.Add({name, count, absl::StrCat(what, SizesText(shown))});
    listed.push_back({{"name", name},
                      {"family", family.name},
                      {"parameters", model.parameters},
                      {"loss", model.loss},
                      {"sizes", model.sizes}});
    return absl::OkStatus();
  };
  for (const zoo::Family& family : zoo::Families()) {
    YUBA_RETURN_IF_ERROR(add(family.name, family, family.sizes));
    for (const zoo::Preset& preset : zoo::Presets()) {
      if (preset.family == family.name) {
        YUBA_RETURN_IF_ERROR(add(preset.name, family, preset.sizes));
      }
    }
  }
  std::cout << (json ? listed.dump(1) + "\n" : table.ToString());
  return absl::OkStatus();
}

absl::Status Zoo(const ZooFlags& flags) {
  if (flags.name.empty()) {
    if (flags.sizes.empty() && flags.output.empty()) return List(flags.json);
    return UserError("which model? yuba zoo lists them, yuba zoo NAME -o FILE writes one");
  }
  YUBA_ASSIGN_OR_RETURN(const zoo::ZooModel model, zoo::MakeModel(flags.name, flags.sizes));
  const std::string file = flags.output.empty() ? flags.name + ".onnx" : flags.output;
  YUBA_RETURN_IF_ERROR(WriteFile(file, model.bytes));
  if (flags.json) {
    const nlohmann::ordered_json json = {{"file", file},
                                         {"parameters", model.parameters},
                                         {"loss", model.loss},
                                         {"sizes", model.sizes}};
    std::cout << json.dump(1) << "\n";
    return absl::OkStatus();
  }
  std::cout << "wrote " << file << " (" << Bytes(static_cast<int64_t>(model.bytes.size()))
            << "): " << model.parameters << " parameters, " << SizesText(model.sizes) << "\n"
            << "its output is meant for --loss " << model.loss << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddZoo(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ZooFlags>();
  CLI::App* command =
      AddCommand(app, "zoo", "write a model of the zoo, or list them; weights are seeds");
  command->add_option("name", flags->name, "the model; none: list them");
  command->add_option("-o,--output", flags->output, "the ONNX file; default: NAME.onnx");
  for (const zoo::Option& option : zoo::Options()) {
    const std::string name = option.name;
    command
        ->add_option_function<int64_t>(
            "--" + name, [flags, name](int64_t size) { flags->sizes[name] = size; }, option.help)
        ->transform(WholeNumber(1, option.most));
  }
  AddJson(command, flags->json);
  OnRun(command, exit_code, [flags] { return Zoo(*flags); });
}

}  // namespace yuba::tools
