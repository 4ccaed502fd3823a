// yuba op: an operator's description and what follows from it.
#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/status.h"
#include "opsemantics/language/library.h"
#include "tools/command.h"
#include "tools/report/op_report.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

struct OpFlags {
  std::string name;
  std::vector<std::string> operators;
  bool json = false;
};

absl::Status ShowOperator(const OpFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(const OperatorLibrary library, LoadLibrary(flags.operators));
  if (flags.name.empty()) {
    std::cout << (flags.json ? nlohmann::ordered_json(library.Names()).dump(1)
                             : absl::StrJoin(library.Names(), "\n"))
              << "\n";
    return absl::OkStatus();
  }
  const OpDescription* op = library.Find(flags.name);
  if (op == nullptr) {
    return UserError("no operator '", flags.name, "' is described; yuba op lists them all");
  }
  YUBA_ASSIGN_OR_RETURN(const std::string report,
                        flags.json ? OperatorJson(*op) : OperatorText(*op));
  std::cout << report;
  return absl::OkStatus();
}

}  // namespace

void AddOp(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<OpFlags>();
  CLI::App* command = AddCommand(app, "op", "an operator: its description and its partitions");
  command->add_option("name", flags->name, "the operator; none: list them");
  AddOperators(command, flags->operators);
  AddJson(command, flags->json);
  OnRun(command, exit_code, [flags] { return ShowOperator(*flags); });
}

}  // namespace yuba::tools
