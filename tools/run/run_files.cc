#include "tools/run/run_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "runtime/backend.h"

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

absl::Status ReadInput(const std::string& name, const std::string& path, RunFiles& files) {
  YUBA_ASSIGN_OR_RETURN(TensorData value, ReadTensorFile(path));
  files.inputs.push_back({name, path, std::move(value)});
  return absl::OkStatus();
}

absl::Status ReadInputs(const RunFlags& flags, const RunPorts& ports, RunFiles& files) {
  std::set<std::string> wanted(ports.inputs.begin(), ports.inputs.end());
  wanted.insert(ports.unset.begin(), ports.unset.end());
  if (!flags.input_dir.empty() && ports.file_inputs.empty() && !ports.inputs.empty()) {
    return UserError(
        "the program does not say how its model numbers inputs, as an older version "
        "compiled it: compile it again");
  }
  for (size_t i = 0; i < ports.file_inputs.size() && !flags.input_dir.empty(); ++i) {
    if (wanted.count(ports.file_inputs[i]) == 0) continue;
    YUBA_ASSIGN_OR_RETURN(const std::string path,
                          TensorFileIn(flags.input_dir, absl::StrCat("input_", i)));
    if (path.empty()) continue;  // a missing one is reported with all others that are
    YUBA_RETURN_IF_ERROR(ReadInput(ports.file_inputs[i], path, files));
  }
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

absl::Status ReadExpected(const RunFlags& flags, const RunPorts& ports, RunFiles& files) {
  if (!flags.check) return absl::OkStatus();
  if (flags.input_dir.empty())
    return UserError("--check needs --inputs DIR with output_0.pb or .npy");
  bool any = false;
  files.expected.resize(ports.outputs.size());
  for (size_t i = 0; i < ports.outputs.size(); ++i) {
    YUBA_ASSIGN_OR_RETURN(const std::string path,
                          TensorFileIn(flags.input_dir, absl::StrCat("output_", i)));
    if (path.empty()) continue;
    any = true;
    YUBA_ASSIGN_OR_RETURN(files.expected[i], ReadTensorFile(path));
  }
  if (!any) return UserError(flags.input_dir, ": has no output_0.pb or output_0.npy");
  return absl::OkStatus();
}

absl::Status CheckValues(const RunFlags& flags, const RunPorts& ports, const RunFiles& files) {
  if (!flags.random.empty()) return RandomSeed(flags.random).status();
  std::set<std::string> given;
  for (const RunFiles::Input& input : files.inputs) given.insert(input.name);
  for (const auto& [name, value] : files.weights) given.insert(name);
  std::vector<std::string> missing;
  for (const auto* names : {&ports.inputs, &ports.unset}) {
    for (const std::string& name : *names) {
      if (given.count(name) == 0) missing.push_back(name);
    }
  }
  return missing.empty() ? absl::OkStatus() : runtime::NoValuesFor(std::move(missing));
}

// The folder of --outputs: made where it is missing, and removed again where it stays empty.
class OutputFolder {
 public:
  explicit OutputFolder(const std::string& path) : path_(path) {}
  ~OutputFolder() {
    if (created_) ::rmdir(path_.c_str());  // which fails where there is a file
  }
  OutputFolder(const OutputFolder&) = delete;

  absl::Status Make() {
    created_ = ::mkdir(path_.c_str(), 0777) == 0;
    return created_ || errno == EEXIST ? absl::OkStatus() : Unusable("be made");
  }
  absl::Status CheckWritable() const {
    std::string probe = path_ + "/.yuba.XXXXXX";
    const int file = ::mkostemp(probe.data(), O_CLOEXEC);
    if (file < 0) return Unusable("be written to");
    ::close(file);
    ::unlink(probe.c_str());
    return absl::OkStatus();
  }
  std::string File(size_t output) const { return absl::StrCat(path_, "/output_", output, ".npy"); }

 private:
  absl::Status Unusable(const char* what) const {
    return UserError("--outputs ", path_, ": cannot ", what, ": ", std::strerror(errno),
                     "; name a folder that can be written");
  }

  const std::string path_;
  bool created_ = false;
};

// Tries whether outputs can be written. The folder does not stay, so that a run that ends early
// leaves nothing.
absl::Status CheckOutputFolder(const RunFlags& flags, size_t outputs) {
  const std::string& dir = flags.output_dir;
  if (dir.empty()) return absl::OkStatus();
  if (SameFile(dir, flags.input_dir)) {
    return UserError("--outputs ", dir, " is the folder of --inputs: the expected outputs ",
                     "would be overwritten; name another");
  }
  OutputFolder folder(dir);
  YUBA_RETURN_IF_ERROR(folder.Make());
  YUBA_RETURN_IF_ERROR(folder.CheckWritable());
  for (size_t i = 0; i < outputs; ++i) YUBA_RETURN_IF_ERROR(CheckOutput(folder.File(i)));
  return absl::OkStatus();
}

}  // namespace

RunPorts PortsOf(const program::Program& program) {
  RunPorts ports;
  for (const program::Port& input : program.inputs()) ports.inputs.push_back(input.name());
  for (const program::Port& output : program.outputs()) ports.outputs.push_back(output.name());
  ports.file_inputs.assign(program.file_inputs().begin(), program.file_inputs().end());
  for (const program::Initializer& parameter : program.parameters()) {
    if (parameter.value_case() == program::Initializer::VALUE_NOT_SET)
      ports.unset.push_back(parameter.port().name());
  }
  return ports;
}

absl::StatusOr<uint64_t> RandomSeed(const std::string& random) {
  uint64_t seed = 1;
  if (random == "true" || absl::SimpleAtoi(random, &seed)) return seed;
  return UserError("--random=", random, ": the seed is a whole number, as in --random=7");
}

absl::StatusOr<RunFiles> ReadRunFiles(const RunFlags& flags, const RunPorts& ports) {
  RunFiles files;
  YUBA_RETURN_IF_ERROR(runtime::CheckBackend(flags.options.backend));
  YUBA_RETURN_IF_ERROR(CheckOutput(flags.trace));
  if (!flags.weights.empty()) {
    YUBA_ASSIGN_OR_RETURN(files.weights, ReadSafetensors(flags.weights));
  }
  YUBA_RETURN_IF_ERROR(ReadInputs(flags, ports, files));
  YUBA_RETURN_IF_ERROR(ReadExpected(flags, ports, files));
  YUBA_RETURN_IF_ERROR(CheckValues(flags, ports, files));
  YUBA_RETURN_IF_ERROR(CheckOutput(flags.trace));  // not before all inputs are known
  YUBA_RETURN_IF_ERROR(CheckOutputFolder(flags, ports.outputs.size()));
  return files;
}

absl::Status WriteOutputs(runtime::Session& session, const RunFlags& flags) {
  if (flags.output_dir.empty()) return absl::OkStatus();
  OutputFolder folder(flags.output_dir);
  YUBA_RETURN_IF_ERROR(folder.Make());
  const auto& outputs = session.program().message().outputs();
  for (int i = 0; i < outputs.size(); ++i) {
    YUBA_ASSIGN_OR_RETURN(const TensorData tensor, session.Get(outputs[i].name()));
    YUBA_RETURN_IF_ERROR(WriteFile(folder.File(i), FormatNpy(tensor)));
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
