#include "tools/run/step_files.h"

#include <sys/stat.h>

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

bool Exists(const std::string& path) {
  struct stat facts;
  return ::stat(path.c_str(), &facts) == 0;
}

// DIR/STEM.npy or DIR/STEM.pb, whichever is there; empty if neither is, an error if both are.
absl::StatusOr<std::string> TensorFileIn(const std::string& dir, const std::string& stem) {
  std::string found;
  for (const char* extension : {".npy", ".pb"}) {
    const std::string path = absl::StrCat(dir, "/", stem, extension);
    if (!Exists(path)) continue;
    if (!found.empty())
      return UserError(found, " and ", path, " are both there: remove one of them");
    found = path;
  }
  return found;
}

absl::Status ReadInput(const std::string& name, const std::string& path, StepFiles& files) {
  YUBA_ASSIGN_OR_RETURN(TensorData value, ReadTensorFile(path));
  files.inputs.push_back({name, path, std::move(value)});
  return absl::OkStatus();
}

// What the folder gives to the ports that need a value.
absl::Status ReadFolder(const std::string& dir, const RunPorts& ports, StepFiles& files) {
  std::set<std::string> wanted(ports.inputs.begin(), ports.inputs.end());
  wanted.insert(ports.unset.begin(), ports.unset.end());
  for (size_t i = 0; i < ports.file_inputs.size(); ++i) {
    if (wanted.count(ports.file_inputs[i]) == 0) continue;
    YUBA_ASSIGN_OR_RETURN(const std::string path, TensorFileIn(dir, absl::StrCat("input_", i)));
    if (path.empty()) continue;  // a missing one is reported with all others that are
    YUBA_RETURN_IF_ERROR(ReadInput(ports.file_inputs[i], path, files));
  }
  return absl::OkStatus();
}

absl::Status ReadExpected(const std::string& dir, const RunPorts& ports, StepFiles& files) {
  bool any = false;
  files.expected.resize(ports.outputs.size());
  for (size_t i = 0; i < ports.outputs.size(); ++i) {
    YUBA_ASSIGN_OR_RETURN(const std::string path, TensorFileIn(dir, absl::StrCat("output_", i)));
    if (path.empty()) continue;
    any = true;
    YUBA_ASSIGN_OR_RETURN(files.expected[i], ReadTensorFile(path));
  }
  return any ? absl::OkStatus() : UserError(dir, ": has no output_0.pb or output_0.npy");
}

// --input NAME=FILE.
absl::Status ReadNamedInputs(const RunFlags& flags, StepFiles& files) {
  std::set<std::string> given;
  for (const std::string& input : flags.inputs) {
    const std::vector<std::string> parts = absl::StrSplit(input, absl::MaxSplits('=', 1));
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return UserError("--input ", input, ": expected NAME=FILE, as in --input x=image.npy");
    }
    if (!given.insert(parts[0]).second) {
      return UserError("--input ", input, ": ", parts[0], " is given twice; give one of them");
    }
    YUBA_RETURN_IF_ERROR(ReadInput(parts[0], parts[1], files));
  }
  return absl::OkStatus();
}

// The folders of the steps.
std::vector<std::string> FoldersOf(const std::string& dir) {
  std::vector<std::string> folders;
  const auto next = [&] { return absl::StrCat(dir, "/test_data_set_", folders.size()); };
  while (Exists(next())) folders.push_back(next());
  return folders.empty() ? std::vector<std::string>{dir} : folders;
}

}  // namespace

RunPorts PortsOf(const program::Program& program) {
  RunPorts ports;
  for (const program::Port& input : program.inputs()) ports.inputs.push_back(input.name());
  for (const program::Port& output : program.outputs()) ports.outputs.push_back(output.name());
  ports.file_inputs.assign(program.file_inputs().begin(), program.file_inputs().end());
  for (const program::Initializer& parameter : program.parameters()) {
    ports.random |= parameter.port().name() == kSeedName;
    if (parameter.value_case() == program::Initializer::VALUE_NOT_SET)
      ports.unset.push_back(parameter.port().name());
  }
  return ports;
}

absl::StatusOr<std::vector<StepFiles>> ReadStepFiles(const RunFlags& flags, const RunPorts& ports) {
  std::vector<StepFiles> steps(1);
  if (flags.input_dir.empty()) {
    if (flags.check) return UserError("--check needs --inputs DIR with output_0.pb or .npy");
  } else {
    if (ports.file_inputs.empty() && !ports.inputs.empty()) {
      return UserError(
          "the program does not say how its model numbers inputs, as an older version "
          "compiled it: compile it again");
    }
    const std::vector<std::string> folders = FoldersOf(flags.input_dir);
    steps.resize(folders.size());
    for (size_t s = 0; s < folders.size(); ++s) {
      YUBA_RETURN_IF_ERROR(ReadFolder(folders[s], ports, steps[s]));
      if (flags.check) YUBA_RETURN_IF_ERROR(ReadExpected(folders[s], ports, steps[s]));
    }
  }
  YUBA_RETURN_IF_ERROR(ReadNamedInputs(flags, steps[0]));
  return steps;
}

}  // namespace yuba::tools
