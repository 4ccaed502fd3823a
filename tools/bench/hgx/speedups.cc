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

// Both columns of the default: in each the plan that is shortest by its run time.
struct Columns {
  ScheduledPlan today, enqueue;
};

absl::StatusOr<Columns> Default(const compiler::Model& model, const SharedMachine& machine,
                                int devices) {
  Columns columns;
  YUBA_ASSIGN_OR_RETURN(columns.today, Schedule(model, OurDefault(machine), devices));
  YUBA_ASSIGN_OR_RETURN(columns.enqueue,
                        Schedule(model, OurDefault(machine), devices, RunTime::kEnqueue));
  return columns;
}

std::string PlanText(const Columns& columns) {
  const auto bytes = [](const ScheduledPlan& plan) {
    return absl::StrFormat("%s, %.2f GB", plan.search, 1e-9 * static_cast<double>(plan.bytes));
  };
  const std::string today = bytes(columns.today), enqueue = bytes(columns.enqueue);
  return today == enqueue ? today : absl::StrCat(today, "; ", enqueue);
}

absl::Status PrintForwards(const SharedMachine& machine) {
  constexpr int64_t kBatch = 256;
  std::cout << "\nForward passes at batch " << kBatch
            << ", f32 without TF32, ms, on one device and on eight:\n\n| model | run time | one | "
               "eight | one ÷ eight | plan of eight, moved |\n|---|---|---|---|---|---|\n";
  for (const char* name : {"gpt2", "resnet-50"}) {
    YUBA_ASSIGN_OR_RETURN(const auto loaded, BenchModelOf(name, {{"batch", kBatch}}, ""));
    YUBA_ASSIGN_OR_RETURN(const Columns one, Default(loaded->model, machine, 1));
    YUBA_ASSIGN_OR_RETURN(const Columns all, Default(loaded->model, machine, machine->devices()));
    const auto print = [&](const char* run_time, double alone, double together) {
      std::cout << absl::StreamFormat("| %s | %s | %.2f | %.2f | %.2f | %s |\n", name, run_time,
                                      1e3 * alone, 1e3 * together, alone / together, PlanText(all));
    };
    print("today", one.today.today, all.today.today);
    print("only enqueues", one.enqueue.step, all.enqueue.step);
    std::cout << std::flush;
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
      "step:\n\n| way | moved GB | GB a device | today | ÷ default | only enqueues | ÷ default "
      "|\n|---|---|---|---|---|---|---|\n",
      layers, llama.batch, llama.sequence);
  YUBA_ASSIGN_OR_RETURN(
      const auto loaded,
      BenchModelOf("llama3-8b",
                   {{"batch", llama.batch}, {"layers", layers}, {"sequence", llama.sequence}},
                   "adam", "bf16"));
  YUBA_ASSIGN_OR_RETURN(const Columns ours, Default(loaded->model, machine, machine->devices()));
  const auto print = [&](const std::string& way, const ScheduledPlan& plan, double today,
                         double enqueue) {
    std::cout << absl::StreamFormat("| %s%s | %.1f | %.1f | %.1f | %.2f | %.1f | %.2f |\n", way,
                                    plan.arena > room ? ", does not fit" : "",
                                    1e-9 * static_cast<double>(plan.bytes),
                                    1e-9 * static_cast<double>(plan.arena), 1e3 * today,
                                    today / ours.today.today, 1e3 * enqueue,
                                    enqueue / ours.enqueue.step)
              << std::flush;
  };
  print(absl::StrCat("default (", PlanText(ours), ")"), ours.enqueue, ours.today.today,
        ours.enqueue.step);
  for (const char* way : {"zero3", "zero2", "data", "megatron", "megatron-data", "recursive"}) {
    YUBA_ASSIGN_OR_RETURN(const ScheduledPlan plan,
                          Schedule(loaded->model, AsPublished(way, machine)));
    print(way, plan, plan.today, plan.step);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrintSpeedups(int64_t layers) {
  YUBA_ASSIGN_OR_RETURN(Machine found, FindMachine(absl::StrCat("hgx-h100@", kKernelSet)));
  const auto machine = std::make_shared<const Machine>(std::move(found));
  std::cout
      << "\n## Eight H100\n\nPredicted on " << machine->name
      << " in two ways: as `yuba run` runs programs today, one process that starts what eight "
         "devices do and waits at exchanges, and by a run time that only enqueues. Each has "
         "the default's plan that is shortest by it.\n";
  YUBA_RETURN_IF_ERROR(PrintForwards(machine));
  YUBA_RETURN_IF_ERROR(PrintLlama(machine, {8, 2048}, layers));
  return PrintLlama(machine, {16, 2048}, layers);
}

}  // namespace yuba::tools
