// yuba-bench paper: the tables of Tofu's paper, ours beside them, as Markdown.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "tools/bench/machine.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/bench/paper/published.h"
#include "tools/bench/paper/scheduled_plan.h"
#include "tools/bench/paper/step_fit.h"
#include "tools/bench/subcommands.h"
#include "tools/command.h"
#include "tools/flags/machine_defaults.h"

namespace yuba::tools {
namespace {

constexpr char kMachine[] = "p2.8xlarge";
constexpr int kGpus = 8;
constexpr char kOptimizer[] = "momentum";  // weights, gradients and history: 3 W, as table 2 counts

struct PaperFlags {
  std::vector<std::string> models;  // of kThroughputs; empty: all
  bool shares = false;              // figure 10 alone
};

bool IsAsked(const PaperFlags& flags, const std::string& model) {
  return flags.models.empty() ||
         std::find(flags.models.begin(), flags.models.end(), model) != flags.models.end();
}

// Says on stderr what is at work: a run takes many minutes.
void Say(const std::string& text) { std::cerr << text << std::endl; }

absl::StatusOr<StepSample> IdealSample(const PublishedThroughput& row) {
  YUBA_ASSIGN_OR_RETURN(const auto loaded,
                        ZooStep(row.model, {{"batch", row.ideal_batch}}, kOptimizer));
  StepSample sample;
  sample.name = row.model;
  sample.kernels = KernelsOf(loaded->model.graph);
  sample.seconds = static_cast<double>(row.ideal_batch) * kGpus / row.ideal;
  return sample;
}

// The machine of the paper with kernels that fit its column Ideal, of all models.
absl::StatusOr<std::shared_ptr<const Machine>> FittedMachine() {
  YUBA_ASSIGN_OR_RETURN(Machine machine, FindMachine(kMachine));
  std::vector<StepSample> samples;
  for (const PublishedThroughput& row : kThroughputs) {
    Say(absl::StrCat("reading ", row.model));
    YUBA_ASSIGN_OR_RETURN(StepSample sample, IdealSample(row));
    samples.push_back(std::move(sample));
  }
  FitSteps(samples, machine);
  std::cout
      << "## One GPU, which the kernel model was fitted to\n\nOf the device's rate "
      << absl::StreamFormat(
             "convolutions reach %.3f and products %.3f, of its bandwidth maps %.3f and "
             "reductions %.3f.\n\n",
             machine.device.kernels[1][static_cast<int>(KernelClass::kConvolution)].rate_share,
             machine.device.kernels[1][static_cast<int>(KernelClass::kProduct)].rate_share,
             machine.device.kernels[0][static_cast<int>(KernelClass::kMap)].bandwidth_share,
             machine.device.kernels[0][static_cast<int>(KernelClass::kReduction)].bandwidth_share)
      << "| model | Ideal, samples/s | predicted | quotient |\n|---|---|---|---|\n";
  for (size_t s = 0; s < samples.size(); ++s) {
    const double measured = samples[s].seconds, predicted = SecondsOf(samples[s], machine);
    std::cout << absl::StreamFormat(
        "| %s | %.4g | %.4g | %.2f |\n", samples[s].name, kThroughputs[s].ideal,
        kThroughputs[s].ideal * measured / predicted, measured / predicted);
  }
  return std::make_shared<const Machine>(std::move(machine));
}

// Samples a second; "–" where nothing fits.
std::string Speed(const absl::StatusOr<ScheduledPlan>& plan, int64_t batch) {
  if (!plan.ok()) return "–";
  return absl::StrFormat("%.4g", static_cast<double>(batch) / plan->step);
}

// The share of communication, memory, and seconds of the search.
std::string Rest(const absl::StatusOr<ScheduledPlan>& plan, int64_t room) {
  if (!plan.ok()) return "– | does not fit | –";
  return absl::StrFormat("%.1f %% | %.2f GB%s | %.1f", 100 * plan->communication(),
                         1e-9 * static_cast<double>(plan->arena),
                         plan->arena > room ? ", too much" : "", plan->search_seconds);
}

// How far quotients are from 1: the median and the largest.
std::string OffText(std::vector<double> quotients) {
  for (double& quotient : quotients) quotient = std::abs(quotient - 1);
  std::sort(quotients.begin(), quotients.end());
  return absl::StrFormat("off by %.0f %% in the median and %.0f %% at most",
                         100 * quotients[quotients.size() / 2], 100 * quotients.back());
}

absl::Status PrintThroughputs(const PaperFlags& flags,
                              const std::shared_ptr<const Machine>& machine) {
  const int64_t room = RoomOn(*machine);
  std::cout
      << "\n## Throughput\n\n| model | batch | Tofu printed | recursion predicted | quotient "
         "| communication | memory | search s | ours predicted | communication | memory | "
         "search s | ours ÷ recursion |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
         "\n";
  std::vector<double> quotients;
  for (const PublishedThroughput& row : kThroughputs) {
    if (!IsAsked(flags, row.model)) continue;
    Say(absl::StrCat("planning ", row.model));
    YUBA_ASSIGN_OR_RETURN(const auto loaded, ZooStep(row.model, {}, kOptimizer));
    YUBA_ASSIGN_OR_RETURN(const int64_t batch, BatchOf(row.model));
    const auto tofu = Schedule(loaded->model, AsPublished("recursive", machine));
    YUBA_RETURN_IF_ERROR(tofu.status());
    const auto ours = Schedule(loaded->model, OurDefault(machine));
    if (!ours.ok() && !absl::IsFailedPrecondition(ours.status())) return ours.status();
    quotients.push_back(static_cast<double>(batch) / tofu->step / row.tofu);
    std::cout << absl::StreamFormat("| %s | %d | %.4g | %s | %.2f | %s | %s | %s | ", row.model,
                                    batch, row.tofu, Speed(tofu, batch), quotients.back(),
                                    Rest(tofu, room), Speed(ours, batch), Rest(ours, room))
              << (ours.ok() ? absl::StrFormat("%.2f", tofu->step / ours->step) : "–") << " |\n"
              << std::flush;
  }
  if (!quotients.empty()) std::cout << "\nTofu's column is " << OffText(quotients) << ".\n";
  return absl::OkStatus();
}

absl::Status PrintShares(const std::shared_ptr<const Machine>& machine) {
  YUBA_ASSIGN_OR_RETURN(
      const auto rnn,
      ZooStep("rnn", {{"batch", kShareRnnBatch}, {"layers", 4}, {"width", 8192}}, kOptimizer));
  YUBA_ASSIGN_OR_RETURN(const auto wresnet,
                        ZooStep("wresnet-152-10", {{"batch", kShareWresnetBatch}}, kOptimizer));
  std::cout << "\n## Share of communication in a step\n\n| search | RNN-4-8K printed | predicted | "
               "WResNet-152-10 printed | predicted |\n|---|---|---|---|---|\n";
  const auto printed = [](double percent) {
    return percent == 0 ? std::string("–") : absl::StrFormat("%.1f %%", percent);
  };
  const auto share = [](const absl::StatusOr<ScheduledPlan>& plan) {
    if (!plan.ok()) return std::string("does not fit");
    return absl::StrFormat("%.1f %%, step %.3f s, %.2f GB moved", 100 * plan->communication(),
                           plan->step, 1e-9 * static_cast<double>(plan->bytes));
  };
  const auto add = [&](const std::string& name, double of_rnn, double of_wresnet,
                       const search::SearchOptions& options) {
    Say(absl::StrCat("shares of ", name));
    std::cout << "| " << name << " | " << printed(of_rnn) << " | "
              << share(Schedule(rnn->model, options)) << " | " << printed(of_wresnet) << " | "
              << share(Schedule(wresnet->model, options)) << " |\n"
              << std::flush;
  };
  for (const PublishedShare& row : kShares) {
    add(row.name, row.rnn, row.wresnet, AsPublished(row.search, machine));
  }
  add("ours", 0, 0, OurDefault(machine));
  return absl::OkStatus();
}

absl::Status Paper(const PaperFlags& flags) {
  std::cout << "# The paper's tables\n\nMade by `yuba-bench paper` on " << MachineName()
            << ". Times of plans are predicted on machines/" << kMachine
            << ".json by the model back end, with the kernels that the next section fits.\n\n";
  YUBA_ASSIGN_OR_RETURN(const std::shared_ptr<const Machine> machine, FittedMachine());
  if (!flags.shares) YUBA_RETURN_IF_ERROR(PrintThroughputs(flags, machine));
  return PrintShares(machine);
}

}  // namespace

void AddPaper(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<PaperFlags>();
  CLI::App* command = AddCommand(app, "paper", "the tables of Tofu's paper, and ours beside them");
  command
      ->add_option("--models", flags->models, "of the paper, as the zoo names them; default: all")
      ->delimiter(',');
  command->add_flag("--shares", flags->shares, "shares of communication alone");
  OnRun(command, exit_code, [flags] { return Paper(*flags); });
}

}  // namespace yuba::tools
