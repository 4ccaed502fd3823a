#include "tools/run_main.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/flags/model_flags.h"
#include "tools/flags/old_flags.h"
#include "tools/parse_and_run.h"
#include "tools/version.h"

namespace yuba::tools {
namespace {

// Of a flag of the model, where the command is given a plan.
std::string PlanHas(const CLI::App& command, const std::string& flag) {
  const bool known = absl::StartsWith(flag, "--") && FindModelFlag(flag.substr(2)) != nullptr;
  return known && command.get_option_no_throw("plan") != nullptr ? kPlanHasIt : "";
}

// Prints what --help of the command prints, {"zoo"}; of none: the list of commands.
absl::Status Help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> all = command->get_subcommands({});
    const auto next = std::find_if(all.begin(), all.end(),
                                   [&](const CLI::App* one) { return one->get_name() == word; });
    if (all.empty()) return UserError(name, " has no commands, so no ", word);
    const char* const line[] = {name.c_str(), word.c_str()};
    if (next == all.end()) return CheckSubcommand(*command, 2, line);
    command = *next;
    name += " " + word;
  }
  // Not App::help(), which of an app prints the help of the command that was called: of this one.
  std::cout << command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal);
  return absl::OkStatus();
}

void AddHelp(CLI::App& app, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "what a command does, and what it takes");
  command->add_option("command", *words, "the command; none: the list of all");
  OnRun(command, exit_code, [&app, words] { return Help(app, *words); });
}

}  // namespace

int RunMain(CLI::App& app, int& exit_code, int argc, char** argv) {
  app.footer(
      "Exit codes: 0 done, also where Ctrl-C ended a search with a plan; 1 a negative answer, as "
      "no plan that fits; 2 bad input; 3 a failed run, too little memory, or no answer in time; "
      "130 interrupted: a search before it had a plan, a run before its last step.");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  AddHelp(app, exit_code);
  return ParseAndRun(app, argc, argv, [&exit_code] { return exit_code; }, PlanHas);
}

}  // namespace yuba::tools
