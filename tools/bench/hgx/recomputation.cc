#include "tools/bench/hgx/recomputation.h"

#include <vector>

#include "absl/strings/match.h"
#include "runtime/model/make_steps.h"
#include "runtime/model/on_chip.h"
#include "runtime/program/work.h"

namespace yuba::tools {
namespace {

// The first instruction that writes the output `loss`; 0: none does.
int EndOfForward(const runtime::LoadedProgram& program) {
  int loss = -1;
  for (const program::Port& port : program.message().outputs()) {
    if (port.name() == "loss") loss = port.buffer();
  }
  const auto& instructions = program.instructions();
  for (int i = 0; i < static_cast<int>(instructions.size()); ++i) {
    if (instructions[i].has_exchange()) {
      if (instructions[i].exchange().destination() == loss) return i;
      continue;
    }
    for (const program::Access& result : instructions[i].kernel().results()) {
      if (result.buffer() == loss) return i;
    }
  }
  return 0;
}

bool IsOf(const program::Kernel& kernel, const std::string& blocks) {
  return kernel.from_size() > 0 && absl::StartsWith(kernel.from(0), blocks);
}

// The share of the kernel that runs again.
double ShareAgain(const program::Program& program, const program::Kernel& kernel,
                  const std::vector<bool>& scores, double products) {
  for (const program::Access& operand : kernel.operands()) {
    if (scores[operand.buffer()]) return 0;
  }
  if (program::KernelClassOf(program, kernel) != KernelClass::kProduct) return 1;
  return program.functions(kernel.function()).library().batch_size() > 0 ? 0 : products;
}

}  // namespace

double RecomputationSeconds(const runtime::LoadedProgram& program, const Machine& machine,
                            const std::string& blocks, double products) {
  const runtime::StepList list = runtime::MakeSteps(program, 0, machine, runtime::RanksPolicy());
  const std::vector<bool> scores = runtime::OnChip(program);
  const int end = EndOfForward(program);
  double seconds = 0;
  for (const runtime::Step& step : list.steps) {
    if (step.exchange || step.instruction >= end) continue;
    const program::Kernel& kernel = program.instructions()[step.instruction].kernel();
    if (!IsOf(kernel, blocks)) continue;
    const double share = ShareAgain(program.message(), kernel, scores, products);
    for (int c = 0; c < list.classes(); ++c) {
      const runtime::KernelTime& time = list.kernels[step.row][c];
      if (!time.runs) continue;
      seconds += share * (machine.device.launch + time.start + time.seconds) * list.class_sizes[c] /
                 list.devices();
    }
  }
  return seconds;
}

}  // namespace yuba::tools
