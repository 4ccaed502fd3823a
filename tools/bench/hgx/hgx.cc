// yuba-bench hgx: predictions for nodes of eight H100 and H200, judged by what others published.
// Markdown.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "opsemantics/base/status.h"
#include "tools/bench/hgx/sections.h"
#include "tools/bench/machine.h"
#include "tools/bench/subcommands.h"
#include "tools/command.h"

namespace yuba::tools {
namespace {

struct HgxFlags {
  std::string section;  // empty: all
  int64_t layers = 32;
};

absl::Status Print(const HgxFlags& flags) {
  const auto asked = [&](const char* name) {
    if (!flags.section.empty() && flags.section != name) return false;
    std::cerr << name << std::endl;
    return true;
  };
  std::cout << "# Eight H100 or H200\n\nMade by `yuba-bench hgx` on " << MachineName()
            << ": predictions for machines that are not here.\n\n";
  if (asked("collectives")) YUBA_RETURN_IF_ERROR(PrintCollectives());
  if (asked("one-gpu")) YUBA_RETURN_IF_ERROR(PrintOneGpu());
  if (asked("fsdp")) YUBA_RETURN_IF_ERROR(PrintFsdp(flags.layers));
  if (asked("speedups")) YUBA_RETURN_IF_ERROR(PrintSpeedups(flags.layers));
  return absl::OkStatus();
}

}  // namespace

void AddHgx(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<HgxFlags>();
  CLI::App* command =
      AddCommand(app, "hgx", "predictions for eight H100 or H200, and what others published");
  command->add_option("--section", flags->section, "collectives, one-gpu, fsdp or speedups")
      ->check(CLI::IsMember({"collectives", "one-gpu", "fsdp", "speedups"}));
  command->add_option("--layers", flags->layers, "of Llama-3-8B, which has 32")
      ->check(CLI::Range(1, 32));
  OnRun(command, exit_code, [flags] { return Print(*flags); });
}

}  // namespace yuba::tools
