// yuba check: is the plan legal for this model, and are its cost and bound what it says?
#include "search/check.h"

#include <iostream>

#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/subcommands.h"
#include "tools/text_table.h"

namespace yuba {
namespace {

struct CheckFlags {
  ModelFlags model;
  std::string plan;
};

absl::Status Check(const CheckFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(PlannedModel planned, LoadPlanned(flags.model, flags.plan));
  YUBA_RETURN_IF_ERROR(CheckPlan(planned.loaded.model.graph, planned.plan));
  const int64_t bytes = planned.plan.cost.bytes();
  std::cout << flags.plan << ": legal; moves " << Bytes(bytes) << " (" << bytes
            << " bytes) a step, as it says; ";
  if (planned.plan.proof.kind == "none") {
    std::cout << "no bound is proved";
  } else {
    std::cout << "no plan of its space moves fewer than " << planned.plan.lower_bound
              << " bytes (proof: " << planned.plan.proof.kind << ", replayed)";
  }
  std::cout << "\nmemory, kernels and reasons in the file are for people and are not checked\n";
  return absl::OkStatus();
}

}  // namespace

void AddCheck(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* command = app.add_subcommand("check", "recompute a plan's legality, cost and bound");
  AddModelFlags(command, flags->model);
  command->add_option("plan", flags->plan, "the plan file")->required();
  OnRun(command, exit_code, [flags] { return Check(*flags); });
}

}  // namespace yuba
