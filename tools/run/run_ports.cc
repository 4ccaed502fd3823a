#include "tools/run/run_ports.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/random_state.h"
#include "runtime/program/entries.h"
#include "runtime/program/enums.h"

namespace yuba::tools {

namespace {

bool HasEntry(const RunPorts& ports, const char* entry) {
  return std::count(ports.entries.begin(), ports.entries.end(), entry) > 0;
}

bool Trains(const RunPorts& ports) {
  return ports.file_outputs == std::vector<std::string>{"loss"} && HasEntry(ports, kTrainEntry);
}

}  // namespace

std::string Text(const PortType& type) {
  return absl::StrCat(Name(type.type), "[", absl::StrJoin(type.dims, ", "), "]");
}

RunPorts PortsOf(const program::Program& program) {
  RunPorts ports;
  for (const program::EntryRange& entry : program::EntriesOf(program)) {
    ports.entries.push_back(entry.name);
  }
  for (const program::Entry& entry : program.entries()) ports.times[entry.name()] = entry.times();
  const auto add_type = [&](const program::Port& port) {
    ports.types[port.name()] = {FromProto(program.buffers(port.buffer()).type()),
                                {port.shape().begin(), port.shape().end()},
                                port.examples() - 1};
  };
  for (const program::Port& input : program.inputs()) {
    ports.inputs.push_back(input.name());
    add_type(input);
  }
  for (const program::Port& output : program.outputs()) ports.outputs.push_back(output.name());
  ports.file_inputs.assign(program.file_inputs().begin(), program.file_inputs().end());
  ports.file_outputs.assign(program.file_outputs().begin(), program.file_outputs().end());
  if (ports.file_outputs.empty()) ports.file_outputs = ports.outputs;
  for (const program::Setting& setting : program.training())
    ports.settings[setting.name()] = setting.value();
  ports.ties.assign(program.ties().begin(), program.ties().end());
  for (const program::MissingParameter& missing : program.missing_parameters())
    ports.missing_parameters[missing.name()] = missing.stored_as();
  for (const program::CodeNumber& number : program.code_numbers()) {
    ports.numbers[number.name()] = {
        FromProto(number.type()), {number.shape().begin(), number.shape().end()}, number.data()};
  }
  for (const program::Initializer& parameter : program.parameters()) {
    add_type(parameter.port());
    ports.parameters.insert(parameter.port().name());
    if (parameter.trainable()) ports.trainable.insert(parameter.port().name());
    ports.random |= parameter.port().name() == kSeedName;
    if (parameter.value_case() == program::Initializer::VALUE_NOT_SET)
      ports.unset.push_back(parameter.port().name());
  }
  return ports;
}

std::map<std::string, std::string> WeightsOf(const program::Program& program) {
  std::map<std::string, std::string> weights;
  if (program.training_size() == 0) return weights;
  for (const program::Port& output : program.outputs())
    weights[absl::StrCat(output.name(), "_weight")] = output.name();
  return weights;
}

std::string NameInEntry(const RunPorts& ports, const std::string& entry, const std::string& name) {
  for (const std::string& at : {entry, ReadingEntry(ports, entry)}) {
    const std::string own = absl::StrCat(at, ":", name);
    for (const auto* names : {&ports.inputs, &ports.outputs, &ports.unset}) {
      if (std::count(names->begin(), names->end(), own) > 0) return own;
    }
  }
  return name;
}

bool EvaluatesBetweenSteps(const RunPorts& ports) {
  return Trains(ports) && HasEntry(ports, kEvalEntry);
}

int64_t MicroBatchesOf(const RunPorts& ports) {
  const auto micro = ports.times.find(kMicroEntry), updates = ports.times.find(kTrainEntry);
  const bool both = micro != ports.times.end() && updates != ports.times.end() &&
                    ports.types.count(kPartState) > 0;
  if (!both || !Trains(ports) || updates->second < 1) return 1;
  return std::max<int64_t>(micro->second / updates->second, 1);
}

std::string ReadingEntry(const RunPorts& ports, const std::string& entry) {
  return entry == kTrainEntry && MicroBatchesOf(ports) > 1 ? kMicroEntry : entry;
}

std::vector<std::string> InputsOfEntry(const RunPorts& ports, const std::string& entry) {
  const std::string reading = ReadingEntry(ports, entry);
  std::vector<std::string> inputs;
  for (const std::string& input : ports.inputs) {
    const bool of_other =
        std::any_of(ports.entries.begin(), ports.entries.end(), [&](const std::string& other) {
          return other != reading && absl::StartsWith(input, absl::StrCat(other, ":"));
        });
    if (!of_other) inputs.push_back(input);
  }
  return inputs;
}

int64_t PartsOf(const RunPorts& ports, const std::string& entry) {
  return entry == kTrainEntry || entry == kEvalEntry ? MicroBatchesOf(ports) : 1;
}

PortType TypeInStep(const RunPorts& ports, const std::string& entry, const std::string& input) {
  PortType type = ports.types.at(input);
  if (type.examples >= 0) type.dims[type.examples] *= PartsOf(ports, entry);
  return type;
}

int64_t ExamplesInStep(const RunPorts& ports, const std::string& entry) {
  int64_t examples = 0;
  for (const std::string& input : InputsOfEntry(ports, entry)) {
    const PortType type = TypeInStep(ports, entry, input);
    if (type.examples < 0) continue;
    const int64_t here = type.dims[type.examples];
    examples = examples == 0 ? here : std::min(examples, here);
  }
  return examples;
}

}  // namespace yuba::tools
