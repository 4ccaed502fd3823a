#include "tools/run/checkpoint/program_states.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/random_state.h"

namespace yuba::tools {
namespace {

// The output that is the weight of the loss, in the entry that computes it.
constexpr char kLossWeight[] = "loss_weight";

std::set<int> WrittenBuffers(const runtime::LoadedProgram& program) {
  std::set<int> written;
  for (const program::EntryRange& entry : program.entries()) {
    if (entry.name == program::kInitEntry) continue;  // what it makes is made anew
    for (int i = entry.begin; i < entry.end; ++i) {
      const program::Instruction& instruction = program.instructions()[i];
      if (instruction.has_exchange()) written.insert(instruction.exchange().destination());
      if (!instruction.has_kernel()) continue;
      for (const program::Access& result : instruction.kernel().results())
        written.insert(result.buffer());
    }
  }
  return written;
}

// States of the parts of one step in micro-batches: the count of parts, and for each trained weight
// the mean of its gradient (compiler/train/micro_batches.h), for the weight of a loss its sum.
// After a step nothing reads them, and before the first they are as after any. No tensor of the
// model has one of these names; it may have others that end alike, "w.gradient" where no `w` is
// trained.
std::set<std::string> StatesOfParts(const runtime::LoadedProgram& program,
                                    const std::set<int>& written) {
  if (MicroBatchesOf(PortsOf(program.message())) == 1) return {};
  std::set<std::string> of_parts = {kPartState};
  for (const program::Initializer& parameter : program.message().parameters()) {
    if (parameter.trainable() && written.count(parameter.port().buffer()) > 0)
      of_parts.insert(absl::StrCat(parameter.port().name(), kMeanGradient));
  }
  const auto& outputs = program.message().outputs();
  const std::string in_entry = absl::StrCat(kMicroEntry, ":", kLossWeight);  // of several entries
  if (std::any_of(outputs.begin(), outputs.end(), [&](const program::Port& output) {
        return output.name() == kLossWeight || output.name() == in_entry;
      }))
    of_parts.insert(absl::StrCat(kLossWeight, kMeanGradient));
  return of_parts;
}

}  // namespace

Parameters States(const runtime::LoadedProgram& program) {
  const std::set<int> written = WrittenBuffers(program);
  const std::set<std::string> of_parts = StatesOfParts(program, written);
  Parameters states;
  for (const program::Initializer& parameter : program.message().parameters()) {
    const program::Port& port = parameter.port();
    if (of_parts.count(port.name()) > 0) continue;
    if (written.count(port.buffer()) > 0 || port.name() == kSeedName)
      states[port.name()] = &parameter;
  }
  return states;
}

Parameters Unchanged(const runtime::LoadedProgram& program, const std::set<std::string>& replaced) {
  const std::set<int> written = WrittenBuffers(program);
  Parameters unchanged;
  for (const program::Initializer& parameter : program.message().parameters()) {
    const std::string& name = parameter.port().name();
    if (written.count(parameter.port().buffer()) > 0 || name == kSeedName || name == kLearningRate)
      continue;
    if (parameter.trainable() || replaced.count(name) > 0) unchanged[name] = &parameter;
  }
  return unchanged;
}

PortType TypeOf(const runtime::LoadedProgram& program, const program::Port& port) {
  return {program.type(port.buffer()), {port.shape().begin(), port.shape().end()}};
}

bool HasStates(const runtime::LoadedProgram& program) {
  const std::set<int> written = WrittenBuffers(program);
  const auto& parameters = program.message().parameters();
  return std::any_of(parameters.begin(), parameters.end(), [&](const program::Initializer& p) {
    return written.count(p.port().buffer()) > 0;
  });
}

void AddFacts(const runtime::LoadedProgram& program, RunFacts& facts) {
  const Parameters states = States(program);
  facts.frozen.clear();
  for (const program::Initializer& parameter : program.message().parameters()) {
    const std::string& name = parameter.port().name();
    if (parameter.trainable() && states.count(name) == 0) facts.frozen.insert(name);
  }
  facts.ties.clear();
  for (const program::Tie& tie : program.message().ties())
    facts.ties[tie.tied()] = {tie.kept(), tie.transposed()};
}

}  // namespace yuba::tools
