#include "tools/run/entry_runs.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "opsemantics/base/status.h"
#include "runtime/program/entries.h"
#include "tools/report/text_table.h"
#include "tools/run/data/data_print.h"
#include "tools/run/data/example_batches.h"
#include "tools/run/data/step_files.h"

namespace yuba::tools {
namespace {

// An entry that a run begins with, and how often; 0 where nobody says.
struct Wanted {
  std::string entry;
  int times = 0;
};

// Whether the entry runs where others need it, and not one after the other with them.
bool RunsBesideOthers(const RunPorts& ports, const std::string& entry) {
  return entry == program::kInitEntry || (entry == kEvalEntry && EvaluatesBetweenSteps(ports)) ||
         (entry == kMicroEntry && MicroBatchesOf(ports) > 1);
}

// --entry NAME*TIMES.
absl::StatusOr<Wanted> ReadEntryFlag(const std::string& flag, const RunPorts& ports) {
  const std::vector<std::string> parts = absl::StrSplit(flag, absl::MaxSplits('*', 1));
  Wanted wanted = {parts[0], 0};
  if (std::count(ports.entries.begin(), ports.entries.end(), parts[0]) == 0) {
    return UserError("--entry ", flag, ": the program has no such entry; it has ",
                     absl::StrJoin(ports.entries, ", "),
                     absl::StrContains(flag, '=') ? "; how often one runs is NAME*TIMES" : "");
  }
  if (parts.size() == 2 && (!absl::SimpleAtoi(parts[1], &wanted.times) || wanted.times < 1)) {
    return UserError("--entry ", flag, ": expected NAME or NAME*TIMES, as in --entry ", parts[0],
                     "*16");
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
      if (!RunsBesideOthers(ports, entry)) wanted.push_back({entry, 0});
    }
  }
  if (flags.steps == 0) return wanted;
  if (wanted.size() > 1 || wanted[0].times > 0) {
    return UserError("--steps ", flags.steps, ": say it with --entry ", wanted[0].entry, "*",
                     flags.steps,
                     flags.entries.empty() ? ", as the program has several entries"
                                           : ", as --entry says what runs");
  }
  wanted[0].times = flags.steps;
  return wanted;
}

// Whether there are several entries that take inputs.
bool HasSeveral(const RunPorts& ports) {
  return std::count_if(ports.entries.begin(), ports.entries.end(), [&](const std::string& entry) {
           return !RunsBesideOthers(ports, entry);
         }) > 1;
}

// The folder of --inputs that has the files of this entry; empty: there is none.
absl::StatusOr<std::string> FolderOf(const RunFlags& flags, const RunPorts& ports,
                                     const std::string& entry) {
  if (flags.input_dir.empty() || !HasSeveral(ports)) return flags.input_dir;
  std::string dir = absl::StrCat(flags.input_dir, "/", entry);
  if (!std::filesystem::exists(dir)) {
    return UserError("--inputs ", flags.input_dir, ": has no folder ", entry,
                     " for the inputs of that entry; leave others out with --entry");
  }
  return dir;
}

// Says which tensors in a folder of --inputs have no use: a file may have the wrong number.
void NameUnread(const std::string& dir, const RunPorts& ports, const FolderUse& use) {
  const std::vector<std::string> unread = UnreadFiles(dir, ports, use);
  if (unread.empty()) return;
  std::cerr << "note: --inputs " << dir << ": nothing reads " << FirstOf(unread)
            << "; input_0 and so on are " << absl::StrJoin(ports.file_inputs, ", ") << "\n";
}

// The values of --inputs.
absl::Status ReadInputFolder(const RunFlags& flags, const RunPorts& ports, const std::string& dir,
                             EntryRun& run) {
  const FolderUse use = {run.entry, flags.expect.has_value() ? run.outputs.size() : 0};
  const std::vector<std::string> folders = FoldersIn(dir);
  NameUnread(folders.empty() ? dir : folders[0], ports, use);
  if (folders.empty()) {
    YUBA_ASSIGN_OR_RETURN(run.first, ReadFolder(dir, ports, use));
    run.times = std::max<int64_t>(run.times, 1);
    return absl::OkStatus();
  }
  const auto steps = static_cast<int64_t>(folders.size());
  if (steps > 1 && run.times > steps) {
    return UserError(flags.steps > 0 ? "--steps " : "--entry ",
                     flags.steps > 0 ? "" : run.entry + "*", run.times, ": ", dir,
                     " has inputs of ", steps, " steps; give at most as many");
  }
  if (run.times == 0) run.times = steps;
  if (steps > 1) {
    YUBA_ASSIGN_OR_RETURN(run.batches, OpenFolders(folders, ports, use, absl::nullopt));
  } else {
    YUBA_ASSIGN_OR_RETURN(run.first, ReadFolder(folders[0], ports, use));
  }
  return absl::OkStatus();
}

// The batches of a folder or file of examples, or of a folder of folders, a batch each.
absl::StatusOr<std::shared_ptr<Batches>> OpenBatches(const std::string& path, const RunPorts& ports,
                                                     const std::string& entry,
                                                     const std::set<std::string>& given,
                                                     absl::optional<uint64_t> seed,
                                                     const char* flag) {
  const std::vector<std::string> folders = FoldersIn(path);
  if (folders.empty()) return OpenExamples(path, ports, entry, given, seed, flag);
  return OpenFolders(folders, ports, {entry, 0}, seed);
}

// Whether a checkpoint is read or written, which knows the data.
bool KeepsPrints(const RunFlags& flags) { return !flags.save.empty() || !flags.resume.empty(); }

// Where a run goes on in its data. Of older checkpoints and equal batches the count of steps says
// it; data that is another one begins with an epoch.
Position PositionIn(const Batches& batches, const Checkpoint& resumed,
                    const std::map<std::string, std::string>& prints) {
  if (!resumed.facts.has_value()) {
    return {resumed.step / batches.in_epoch(),
            resumed.step % batches.in_epoch() * batches.in_step()};
  }
  const Position at = resumed.facts->position;
  const std::map<std::string, std::string>& known = resumed.facts->data;
  const bool same = std::all_of(prints.begin(), prints.end(), [&](const auto& print) {
    const auto found = known.find(print.first);
    return found != known.end() && found->second == print.second;
  });
  return same ? at : Position{at.epoch + (at.seen > 0 ? 1 : 0), 0};
}

// The batches of --data, and how many steps they make.
absl::Status OpenData(const RunFlags& flags, const RunPorts& ports, const StepFiles& named,
                      const absl::optional<Checkpoint>& resumed, EntryRun& run) {
  std::set<std::string> given;
  for (const StepFiles::Input& input : named.inputs) given.insert(input.name);
  YUBA_ASSIGN_OR_RETURN(run.batches,
                        OpenBatches(flags.data, ports, run.entry, given, flags.shuffle, "--data"));
  if (KeepsPrints(flags)) {
    YUBA_ASSIGN_OR_RETURN(run.prints, run.batches->Prints());
  }
  if (resumed.has_value()) {
    run.batches->GoOn(resumed->step, PositionIn(*run.batches, *resumed, run.prints));
  }
  if (run.times == 0) run.times = run.batches->StepsUntil(std::max(flags.epochs, 1));
  return absl::OkStatus();
}

// Whether --data and the flags that belong to it have a meaning.
absl::Status CheckData(const RunFlags& flags, const std::vector<Wanted>& wanted) {
  if (flags.data.empty()) return absl::OkStatus();
  if (wanted.size() > 1) {
    return UserError("--data ", flags.data, ": gives batches to one entry, and ", wanted.size(),
                     " run; choose it with --entry ", wanted[0].entry);
  }
  if (flags.epochs > 0 && wanted[0].times > 0) {
    return UserError("--epochs ", flags.epochs, ": ", wanted[0].times,
                     " steps are asked for too; give one of them");
  }
  return absl::OkStatus();
}

// Whether an entry has an input or parameter that the file calls so.
bool IsRead(const RunPorts& ports, const std::string& name) {
  return ports.types.count(name) > 0 ||
         std::any_of(ports.entries.begin(), ports.entries.end(), [&](const std::string& entry) {
           return ports.types.count(NameInEntry(ports, entry, name)) > 0;
         });
}

// Takes out, and names, values of inputs of the file that nothing in the program reads.
void LeaveOutUnread(const RunPorts& ports, StepFiles& named) {
  const auto unread = [&](const StepFiles::Input& input) {
    const auto& names = ports.file_inputs;
    if (std::count(names.begin(), names.end(), input.name) == 0 || IsRead(ports, input.name)) {
      return false;
    }
    std::cerr << "note: --input " << input.name << "=" << input.file << ": nothing reads "
              << input.name << "\n";
    return true;
  };
  std::vector<StepFiles::Input>& inputs = named.inputs;
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), unread), inputs.end());
}

// Says of which values the model's file has others that were computed of them and stay.
void NoteMissing(const RunPorts& ports, const StepFiles& named) {
  for (const StepFiles::Input& input : named.inputs) {
    if (ports.missing_parameters.count(input.name) == 0) continue;
    std::cerr << "note: --input " << input.name << "=" << input.file
              << ": sets the tensor that the "
              << "model's file calls so; what PyTorch's exporter has computed of the parameter "
              << "stays as it is\n";
  }
}

}  // namespace

std::vector<std::string> EntryRun::GivenNames() const {
  std::vector<std::string> names;
  if (batches != nullptr) names = batches->names();
  for (const StepFiles::Input& input : first.inputs) names.push_back(input.name);
  return names;
}

absl::StatusOr<std::vector<EntryRun>> ReadRuns(const RunFlags& flags, const RunPorts& ports,
                                               const absl::optional<Checkpoint>& resumed) {
  if (flags.input_dir.empty() && flags.expect.has_value()) {
    return UserError("--expect needs --inputs DIR with output_0.pb or .npy");
  }
  const bool by_number = !flags.input_dir.empty() || !FoldersIn(flags.data).empty();
  if (by_number && ports.file_inputs.empty() && !ports.inputs.empty()) {
    return UserError(
        "the program does not say how its model numbers inputs, as an older version "
        "compiled it: compile it again");
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<Wanted> wanted, WantedEntries(flags, ports));
  YUBA_RETURN_IF_ERROR(CheckData(flags, wanted));
  YUBA_ASSIGN_OR_RETURN(StepFiles named, ReadNamedInputs(flags.inputs));
  LeaveOutUnread(ports, named);
  NoteMissing(ports, named);
  std::vector<EntryRun> runs;
  for (const Wanted& entry : wanted) {
    EntryRun run;
    run.entry = entry.entry;
    run.times = entry.times;
    for (const std::string& output : ports.file_outputs) {
      run.outputs.push_back(NameInEntry(ports, entry.entry, output));
    }
    YUBA_ASSIGN_OR_RETURN(const std::string dir, FolderOf(flags, ports, entry.entry));
    if (!dir.empty()) YUBA_RETURN_IF_ERROR(ReadInputFolder(flags, ports, dir, run));
    if (!flags.data.empty()) YUBA_RETURN_IF_ERROR(OpenData(flags, ports, named, resumed, run));
    run.times = std::max<int64_t>(run.times, 1);
    run.examples = ExamplesInStep(ports, entry.entry);
    run.reading = ReadingEntry(ports, entry.entry);
    run.parts = PartsOf(ports, entry.entry);
    if (run.parts > 1 && flags.expect.has_value()) {
      return UserError("--expect: a step in micro-batches has a loss for each of its ", run.parts,
                       " parts, and output_0 is one of the whole; leave --expect out");
    }
    runs.push_back(std::move(run));
  }
  for (StepFiles::Input& input : named.inputs) runs[0].first.inputs.push_back(std::move(input));
  if (!KeepsPrints(flags)) return runs;
  for (EntryRun& run : runs) {
    if (run.batches != nullptr && run.prints.empty()) {
      YUBA_ASSIGN_OR_RETURN(run.prints, run.batches->Prints());
    }
    for (const StepFiles::Input& input : run.first.inputs) {
      run.prints[input.name] = PrintOf(input.value);
    }
  }
  return runs;
}

absl::StatusOr<EntryRun> ReadEval(const RunFlags& flags, const RunPorts& ports) {
  if (!EvaluatesBetweenSteps(ports)) {
    return UserError("--eval ", flags.eval, ": the program has no entry ", kEvalEntry,
                     "; yuba partition --train --eval-entry N adds it");
  }
  std::set<std::string> given;
  for (const std::string& input : flags.inputs) given.insert(input.substr(0, input.find('=')));
  EntryRun run;
  run.entry = run.reading = kEvalEntry;
  run.parts = PartsOf(ports, kEvalEntry);
  YUBA_ASSIGN_OR_RETURN(run.batches,
                        OpenBatches(flags.eval, ports, kEvalEntry, given, absl::nullopt, "--eval"));
  const std::vector<std::string> names = run.batches->names();
  const std::set<std::string> read(names.begin(), names.end());
  for (const std::string& input : InputsOfEntry(ports, kEvalEntry)) {
    if (read.count(input) + given.count(input) == 0) {
      return UserError("--eval ", flags.eval, ": has no values of the input ", input);
    }
    if (read.count(input) + given.count(input) == 2) {
      return UserError("--eval ", flags.eval, ": has values of the input ", input, ", which ",
                       "--input gives for all steps; leave out one of them");
    }
  }
  run.times = run.batches->in_epoch();
  return run;
}

}  // namespace yuba::tools
