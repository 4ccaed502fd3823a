#include "tools/run/step_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"
#include "runtime/program/entries.h"

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
absl::Status ReadFolder(const std::string& dir, const RunPorts& ports, const std::string& entry,
                        StepFiles& files) {
  std::set<std::string> wanted(ports.inputs.begin(), ports.inputs.end());
  wanted.insert(ports.unset.begin(), ports.unset.end());
  for (size_t i = 0; i < ports.file_inputs.size(); ++i) {
    const std::string name = NameInEntry(ports, entry, ports.file_inputs[i]);
    if (wanted.count(name) == 0) continue;
    YUBA_ASSIGN_OR_RETURN(const std::string path, TensorFileIn(dir, absl::StrCat("input_", i)));
    if (path.empty()) continue;  // a missing one is reported with all others that are
    YUBA_RETURN_IF_ERROR(ReadInput(name, path, files));
  }
  return absl::OkStatus();
}

absl::Status ReadExpected(const std::string& dir, size_t outputs, StepFiles& files) {
  bool any = false;
  files.expected.resize(outputs);
  for (size_t i = 0; i < outputs; ++i) {
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

// An entry that a run begins with, and how often; 0 where nobody says.
struct Wanted {
  std::string entry;
  int times = 0;
};

// --entry NAME=TIMES.
absl::StatusOr<Wanted> ReadEntryFlag(const std::string& flag, const RunPorts& ports) {
  const std::vector<std::string> parts = absl::StrSplit(flag, absl::MaxSplits('=', 1));
  Wanted wanted = {parts[0], 0};
  if (std::count(ports.entries.begin(), ports.entries.end(), parts[0]) == 0) {
    return UserError("--entry ", flag, ": the program has no such entry; it has ",
                     absl::StrJoin(ports.entries, ", "));
  }
  if (parts.size() == 2 && (!absl::SimpleAtoi(parts[1], &wanted.times) || wanted.times < 1)) {
    return UserError("--entry ", flag, ": expected NAME or NAME=TIMES, as in --entry ", parts[0],
                     "=16");
  }
  return wanted;
}

absl::StatusOr<std::vector<Wanted>> WantedEntries(const RunFlags& flags, const RunPorts& ports) {
  std::vector<Wanted> wanted;
  for (const std::string& flag : flags.entries) {
    YUBA_ASSIGN_OR_RETURN(const Wanted entry, ReadEntryFlag(flag, ports));
    wanted.push_back(entry);
  }
  if (wanted.empty()) {
    for (const std::string& entry : ports.entries) {
      if (entry != program::kInitEntry) wanted.push_back({entry, 0});
    }
  }
  if (flags.steps == 0) return wanted;
  if (wanted.size() > 1 || wanted[0].times > 0) {
    return UserError("--steps ", flags.steps, ": say it with --entry ", wanted[0].entry, "=",
                     flags.steps,
                     flags.entries.empty() ? ", as the program has several entries"
                                           : ", as --entry says what runs");
  }
  wanted[0].times = flags.steps;
  return wanted;
}

// Whether there are several entries that take inputs.
bool HasSeveral(const RunPorts& ports) {
  return std::count_if(ports.entries.begin(), ports.entries.end(),
                       [](const std::string& entry) { return entry != program::kInitEntry; }) > 1;
}

// The files of one entry's steps, in `dir`.
absl::StatusOr<EntryRun> ReadRun(const RunFlags& flags, const RunPorts& ports, const Wanted& wanted,
                                 const std::string& dir) {
  EntryRun run;
  run.entry = wanted.entry;
  for (const std::string& output : ports.file_outputs) {
    run.outputs.push_back(NameInEntry(ports, wanted.entry, output));
  }
  run.steps.resize(1);
  if (!dir.empty()) {
    const std::vector<std::string> folders = FoldersOf(dir);
    run.steps.resize(folders.size());
    const size_t wanted_steps = wanted.times > 0 ? wanted.times : folders.size();
    for (size_t s = 0; s < std::min(folders.size(), wanted_steps); ++s) {
      YUBA_RETURN_IF_ERROR(ReadFolder(folders[s], ports, run.entry, run.steps[s]));
      if (!flags.check) continue;
      YUBA_RETURN_IF_ERROR(ReadExpected(folders[s], run.outputs.size(), run.steps[s]));
    }
  }
  const int steps = static_cast<int>(run.steps.size());
  run.times = wanted.times > 0 ? wanted.times : steps;
  if (steps > 1 && run.times > steps) {
    return UserError(flags.steps > 0 ? "--steps " : "--entry ",
                     flags.steps > 0 ? "" : run.entry + "=", run.times, ": ", dir,
                     " has inputs of ", steps, " steps; give at most as many");
  }
  return run;
}

}  // namespace

std::string NameInEntry(const RunPorts& ports, const std::string& entry, const std::string& name) {
  const std::string own = absl::StrCat(entry, ":", name);
  for (const auto* names : {&ports.inputs, &ports.outputs, &ports.unset}) {
    if (std::count(names->begin(), names->end(), own) > 0) return own;
  }
  return name;
}

RunPorts PortsOf(const program::Program& program) {
  RunPorts ports;
  for (const program::EntryRange& entry : program::EntriesOf(program)) {
    ports.entries.push_back(entry.name);
  }
  for (const program::Port& input : program.inputs()) ports.inputs.push_back(input.name());
  for (const program::Port& output : program.outputs()) ports.outputs.push_back(output.name());
  ports.file_inputs.assign(program.file_inputs().begin(), program.file_inputs().end());
  ports.file_outputs.assign(program.file_outputs().begin(), program.file_outputs().end());
  if (ports.file_outputs.empty()) ports.file_outputs = ports.outputs;
  for (const program::Initializer& parameter : program.parameters()) {
    ports.random |= parameter.port().name() == kSeedName;
    if (parameter.value_case() == program::Initializer::VALUE_NOT_SET)
      ports.unset.push_back(parameter.port().name());
  }
  return ports;
}

absl::StatusOr<std::vector<EntryRun>> ReadRuns(const RunFlags& flags, const RunPorts& ports) {
  if (flags.input_dir.empty() && flags.check) {
    return UserError("--check needs --inputs DIR with output_0.pb or .npy");
  }
  if (!flags.input_dir.empty() && ports.file_inputs.empty() && !ports.inputs.empty()) {
    return UserError(
        "the program does not say how its model numbers inputs, as an older version "
        "compiled it: compile it again");
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<Wanted> wanted, WantedEntries(flags, ports));
  std::vector<EntryRun> runs;
  for (const Wanted& entry : wanted) {
    std::string dir = flags.input_dir;
    if (!dir.empty() && HasSeveral(ports)) {
      absl::StrAppend(&dir, "/", entry.entry);
      if (!Exists(dir)) {
        return UserError("--inputs ", flags.input_dir, ": has no folder ", entry.entry,
                         " for the inputs of that entry; leave others out with --entry");
      }
    }
    YUBA_ASSIGN_OR_RETURN(EntryRun run, ReadRun(flags, ports, entry, dir));
    runs.push_back(std::move(run));
  }
  YUBA_RETURN_IF_ERROR(ReadNamedInputs(flags, runs[0].steps[0]));
  return runs;
}

}  // namespace yuba::tools
