// The section of one GPU: kernels at library rates, judged by steps of PyTorch.
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "tools/bench/hgx/published.h"
#include "tools/bench/hgx/sections.h"
#include "tools/bench/paper/bench_model.h"
#include "tools/bench/paper/scheduled_plan.h"

namespace yuba::tools {

absl::Status PrintOneGpu() {
  YUBA_ASSIGN_OR_RETURN(Machine found, FindMachine(absl::StrCat("hgx-h200@", kKernelSet)));
  const auto machine = std::make_shared<const Machine>(std::move(found));
  std::cout
      << "\n## Kernels at library rates\n\nThe set `" << kKernelSet
      << "` of the machine files, on one H200, against PyTorch 2.11 there (TF32 off); no step "
         "was fitted.\n\n| step | eager ms | compiled ms | predicted ms | ÷ best measured |\n"
         "|---|---|---|---|---|\n";
  for (const MeasuredOnOne& row : MeasuredOnH200()) {
    YUBA_ASSIGN_OR_RETURN(const auto loaded,
                          BenchModelOf(row.model, row.sizes, row.optimizer, row.precision));
    YUBA_ASSIGN_OR_RETURN(const ScheduledPlan plan,
                          Schedule(loaded->model, OurDefault(machine), 1));
    const double best = row.compiled > 0 ? row.compiled : row.eager, predicted = 1e3 * plan.step;
    std::cout << absl::StreamFormat("| %s | %.2f | %s | %.2f | %.2f |\n", row.what, row.eager,
                                    row.compiled > 0 ? absl::StrFormat("%.2f", row.compiled) : "–",
                                    predicted, predicted / best)
              << std::flush;
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
