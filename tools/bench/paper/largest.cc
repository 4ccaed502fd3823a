// yuba-bench largest: the largest models that fit a machine, by the default and by what others do,
// under the same planner of memory. Markdown.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "tools/bench/machine.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/bench/paper/scheduled_plan.h"
#include "tools/bench/subcommands.h"
#include "tools/command.h"
#include "tools/flags/machine_defaults.h"
#include "tools/zoo/zoo.h"

namespace yuba::tools {
namespace {

// Models that differ in one size, which is a multiple of `unit` up to `most` units.
struct Scaled {
  const char* family;
  zoo::Sizes sizes;  // the others
  const char* size;
  int64_t unit, most;
  const char* optimizer;
};

struct Ground {
  const char* machine;
  std::vector<Scaled> models;
};

std::vector<Ground> Grounds() {
  const zoo::Sizes wresnet = {{"batch", 8}, {"layers", 152}},
                   rnn = {{"batch", 128}, {"layers", 10}};
  const auto gpt = [](int64_t width) {
    return zoo::Sizes{{"batch", 8}, {"heads", width / 128}, {"sequence", 1024}, {"width", width}};
  };
  return {{"p2.8xlarge",
           {{"wresnet", wresnet, "width", 1, 32, "momentum"},
            {"rnn", rnn, "width", 512, 64, "momentum"},
            {"gpt", gpt(4096), "layers", 1, 64, "adam"}}},
          {"hgx-h100",
           {{"wresnet", wresnet, "width", 1, 64, "momentum"},
            {"rnn", rnn, "width", 1024, 64, "momentum"},
            {"gpt", gpt(8192), "layers", 1, 64, "adam"}}}};
}

constexpr const char* kWays[] = {"default", "data", "zero3", "megatron", "megatron-data"};

// Whether the way has a plan whose program fits each device.
absl::StatusOr<bool> Fits(const compiler::Model& model, const std::string& way,
                          const std::shared_ptr<const Machine>& machine) {
  if (way == "default") {
    search::SearchOptions options = OurDefault(machine);
    options.without = {"scheduled"};
    const absl::StatusOr<ScheduledPlan> plan = Schedule(model, options);
    if (absl::IsFailedPrecondition(plan.status())) return false;
    YUBA_RETURN_IF_ERROR(plan.status());
    return plan->arena <= RoomOn(*machine);
  }
  YUBA_ASSIGN_OR_RETURN(const ScheduledPlan plan, Schedule(model, AsPublished(way, machine)));
  return plan.arena <= RoomOn(*machine);
}

struct Largest {
  int64_t units = 0;  // 0: not even one fits
  int64_t parameters = 0;
};

// By bisection: larger models need more.
absl::StatusOr<Largest> Find(const Scaled& scaled, const std::string& way,
                             const std::shared_ptr<const Machine>& machine) {
  Largest largest;
  int64_t above = scaled.most + 1;
  while (largest.units + 1 < above) {
    const int64_t units = (largest.units + above) / 2;
    zoo::Sizes sizes = scaled.sizes;
    sizes[scaled.size] = units * scaled.unit;
    YUBA_ASSIGN_OR_RETURN(const zoo::ZooModel made, zoo::MakeModel(scaled.family, sizes));
    YUBA_ASSIGN_OR_RETURN(const auto loaded, ZooStep(scaled.family, sizes, scaled.optimizer));
    YUBA_ASSIGN_OR_RETURN(const bool fits, Fits(loaded->model, way, machine));
    if (fits) {
      largest = {units, made.parameters};
    } else {
      above = units;
    }
  }
  return largest;
}

struct LargestFlags {
  std::string machine, family;  // of those that there are; empty: all
};

absl::Status PrintLargest(const LargestFlags& flags) {
  std::cout << "# The largest models that fit\n\nMade by `yuba-bench largest` on " << MachineName()
            << ": training steps, by bisection over one size, of programs whose memory one planner "
               "lays out. Billions of parameters.\n\n| machine | model | grows |";
  for (const char* way : kWays) std::cout << " " << way << " |";
  std::cout << " default ÷ zero3 |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const Ground& ground : Grounds()) {
    if (!flags.machine.empty() && flags.machine != ground.machine) continue;
    YUBA_ASSIGN_OR_RETURN(Machine found, FindMachine(ground.machine));
    const auto machine = std::make_shared<const Machine>(std::move(found));
    for (const Scaled& scaled : ground.models) {
      if (!flags.family.empty() && flags.family != scaled.family) continue;
      std::cout << "| " << ground.machine << " | " << scaled.family << ", " << scaled.optimizer
                << " | " << scaled.size << " |";
      int64_t ours = 0, zero3 = 0;
      for (const std::string way : kWays) {
        std::cerr << ground.machine << " " << scaled.family << " " << way << std::endl;
        YUBA_ASSIGN_OR_RETURN(const Largest largest, Find(scaled, way, machine));
        if (way == "default") ours = largest.parameters;
        if (way == "zero3") zero3 = largest.parameters;
        std::cout << absl::StreamFormat(" %.2f (%d) |",
                                        1e-9 * static_cast<double>(largest.parameters),
                                        largest.units * scaled.unit)
                  << std::flush;
      }
      std::cout << absl::StreamFormat(
          " %.2f |\n", zero3 > 0 ? static_cast<double>(ours) / static_cast<double>(zero3) : 0.0);
    }
  }
  return absl::OkStatus();
}

}  // namespace

void AddLargest(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<LargestFlags>();
  CLI::App* command =
      AddCommand(app, "largest", "the largest models that fit, by ours and by what others do");
  command->add_option("--machine", flags->machine, "p2.8xlarge or hgx-h100; default: both");
  command->add_option("--family", flags->family, "wresnet, rnn or gpt; default: all");
  OnRun(command, exit_code, [flags] { return PrintLargest(*flags); });
}

}  // namespace yuba::tools
