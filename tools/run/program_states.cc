#include "tools/run/program_states.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "opsemantics/base/random_state.h"

namespace yuba::tools {
namespace {

std::set<int> WrittenBuffers(const runtime::LoadedProgram& program) {
  std::set<int> written;
  for (const program::EntryRange& entry : program.entries()) {
    if (entry.name == program::kInitEntry) continue;  // what it makes is made anew
    for (int i = entry.begin; i < entry.end; ++i) {
      const runtime::Instruction& instruction = program.instructions()[i];
      if (instruction.exchange != nullptr) written.insert(instruction.exchange->destination());
      if (instruction.kernel == nullptr) continue;
      for (const program::Access& result : instruction.kernel->results())
        written.insert(result.buffer());
    }
  }
  return written;
}

// Whether the state is of the parts of one step in micro-batches: the count of parts, or the mean
// of a gradient (compiler/train/micro_batches.h). After a step nothing reads it, and before the
// first it is as after any.
bool IsOfParts(const std::string& state, bool micro_batches) {
  return micro_batches && (state == kPartState || absl::EndsWith(state, kMeanGradient));
}

}  // namespace

Parameters States(const runtime::LoadedProgram& program) {
  const std::set<int> written = WrittenBuffers(program);
  const bool micro_batches = MicroBatchesOf(PortsOf(program.message())) > 1;
  Parameters states;
  for (const program::Initializer& parameter : program.message().parameters()) {
    const program::Port& port = parameter.port();
    if (IsOfParts(port.name(), micro_batches)) continue;
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
