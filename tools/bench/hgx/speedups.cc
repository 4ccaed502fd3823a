// The section of speedups: eight H100 against one, and against what others do.
#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "tools/bench/hgx/sections.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/bench/paper/scheduled_plan.h"
#include "tools/flags/machine_defaults.h"

namespace yuba::tools {
namespace {

using SharedMachine = std::shared_ptr<const Machine>;

std::string PlanText(const ScheduledPlan& plan) {
  return absl::StrFormat("%s, %.2f GB", plan.search, 1e-9 * static_cast<double>(plan.bytes));
}

absl::Status PrintForwards(const SharedMachine& machine) {
  constexpr int64_t kBatch = 256;
  std::cout << "\nForward passes at batch " << kBatch
            << ", f32 without TF32, ms, on one device and on eight:\n\n| model | one | "
               "eight | one ÷ eight | plan of eight, moved |\n|---|---|---|---|---|\n";
  for (const char* name : {"gpt2", "resnet-50"}) {
    YUBA_ASSIGN_OR_RETURN(const auto loaded, BenchModelOf(name, {{"batch", kBatch}}, ""));
    YUBA_ASSIGN_OR_RETURN(const ScheduledPlan one, Schedule(loaded->model, OurDefault(machine), 1));
    YUBA_ASSIGN_OR_RETURN(const ScheduledPlan all, Schedule(loaded->model, OurDefault(machine)));
    std::cout << absl::StreamFormat("| %s | %.2f | %.2f | %.2f | %s |\n", name, 1e3 * one.step,
                                    1e3 * all.step, one.step / all.step, PlanText(all))
              << std::flush;
  }
  return absl::OkStatus();
}

struct Llama {
  int64_t batch, sequence;
};

absl::Status PrintLlama(const SharedMachine& machine, const Llama& llama, int64_t layers) {
  const int64_t room = RoomOn(*machine);
  std::cout << absl::StreamFormat(
      "\nLlama-3-8B, %d layers, %d sequences of %d in all, adam, --precision bf16, ms of a "
      "training "
      "step:\n\n| way | moved GB | GB a device | ms | ÷ default "
      "|\n|---|---|---|---|---|\n",
      layers, llama.batch, llama.sequence);
  YUBA_ASSIGN_OR_RETURN(
      const auto loaded,
      BenchModelOf("llama3-8b",
                   {{"batch", llama.batch}, {"layers", layers}, {"sequence", llama.sequence}},
                   "adam", "bf16"));
  YUBA_ASSIGN_OR_RETURN(const ScheduledPlan ours, Schedule(loaded->model, OurDefault(machine)));
  const auto print = [&](const std::string& way, const ScheduledPlan& plan) {
    std::cout << absl::StreamFormat("| %s%s | %.1f | %.1f | %.1f | %.2f |\n", way,
                                    plan.arena > room ? ", does not fit" : "",
                                    1e-9 * static_cast<double>(plan.bytes),
                                    1e-9 * static_cast<double>(plan.arena), 1e3 * plan.step,
                                    plan.step / ours.step)
              << std::flush;
  };
  print(absl::StrCat("default (", PlanText(ours), ")"), ours);
  for (const char* way : {"zero3", "zero2", "data", "megatron", "megatron-data", "recursive"}) {
    YUBA_ASSIGN_OR_RETURN(const ScheduledPlan plan,
                          Schedule(loaded->model, AsPublished(way, machine)));
    print(way, plan);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrintSpeedups(int64_t layers) {
  YUBA_ASSIGN_OR_RETURN(Machine found, FindMachine(absl::StrCat("hgx-h100@", kKernelSet)));
  const auto machine = std::make_shared<const Machine>(std::move(found));
  std::cout
      << "\n## Eight H100\n\nPredicted on " << machine->name
      << ", as `yuba run` runs programs there: a process for each GPU, exchanges beside kernels, "
         "sums by --sums repeatable.\n";
  YUBA_RETURN_IF_ERROR(PrintForwards(machine));
  YUBA_RETURN_IF_ERROR(PrintLlama(machine, {8, 2048}, layers));
  return PrintLlama(machine, {16, 2048}, layers);
}

}  // namespace yuba::tools
