#include "tools/run/run_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "runtime/backend.h"
#include "runtime/program/checksum.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/checkpoint.h"
#include "tools/run/checkpoint/found_weights.h"
#include "tools/run/checkpoint/missing_weights.h"
#include "tools/run/checkpoint/resume.h"
#include "tools/run/tuning_file.h"

namespace yuba::tools {
namespace {

// Whether it is an input of an entry that does not run.
bool IsOfOtherEntry(const std::string& name, const RunPorts& ports,
                    const std::vector<EntryRun>& runs) {
  return std::any_of(ports.entries.begin(), ports.entries.end(), [&](const std::string& entry) {
    const bool runs_here = std::any_of(runs.begin(), runs.end(), [&](const EntryRun& run) {
      return run.entry == entry || run.reading == entry;
    });
    return !runs_here && absl::StartsWith(name, entry + ":");
  });
}

absl::Status CheckValues(const RunFlags& flags, const RunPorts& ports, const RunFiles& files) {
  if (!flags.random.empty()) return RandomSeed(flags.random).status();
  std::set<std::string> given;
  for (const EntryRun& run : files.runs) {
    for (const std::string& name : run.GivenNames()) given.insert(name);
  }
  for (const auto& [name, value] : files.weights) given.insert(name);
  for (const auto& [name, value] : files.made) given.insert(name);
  if (files.checkpoint.has_value()) {
    for (const auto& [name, value] : files.checkpoint->tensors()) given.insert(name);
  }
  if (files.lr.has_value()) given.insert(kLearningRate);
  std::vector<std::string> missing;
  for (const auto* names : {&ports.inputs, &ports.unset}) {
    for (const std::string& name : *names) {
      if (given.count(name) == 0 && !IsOfOtherEntry(name, ports, files.runs)) {
        missing.push_back(name);
      }
    }
  }
  return missing.empty() ? absl::OkStatus() : runtime::NoValuesFor(std::move(missing));
}

absl::Status ReadLearningRate(const RunFlags& flags, const RunPorts& ports, RunFiles& files) {
  if (flags.lr.empty()) return absl::OkStatus();
  const auto type = ports.types.find(kLearningRate);
  if (type == ports.types.end()) {
    return UserError("--lr-schedule ", flags.lr, ": the program has no parameter ", kLearningRate,
                     ", as training steps of yuba partition --train have");
  }
  files.lr_type = type->second;
  const bool one = std::all_of(files.lr_type.dims.begin(), files.lr_type.dims.end(),
                               [](int64_t dim) { return dim == 1; });
  const ElementType element = files.lr_type.type;
  if (!one || (element != ElementType::kF32 && element != ElementType::kF64)) {
    return UserError("--lr-schedule ", flags.lr, ": the program's ", kLearningRate, " is ",
                     Text(files.lr_type), ", and only one number of f32 or f64 can be set");
  }
  absl::StatusOr<Schedule> schedule = ReadSchedule(flags.lr);
  if (!schedule.ok()) return Annotate(schedule.status(), "--lr-schedule");
  files.lr = *std::move(schedule);
  return absl::OkStatus();
}

// The values of --weights.
absl::Status ReadParameters(const RunFlags& flags, const RunPorts& ports, RunFiles& files) {
  if (flags.weights.empty()) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const WeightFiles weights,
                        ReadWeights(flags.weights, flags.weights_prefix));
  YUBA_ASSIGN_OR_RETURN(FoundWeights found, FindWeights(weights, ports));
  std::vector<std::string> missing;
  for (const std::string& name : found.missing) {
    const auto gives = [&](const std::string& input) {
      return input.compare(0, name.size() + 1, name + "=") == 0;
    };
    if (std::none_of(flags.inputs.begin(), flags.inputs.end(), gives)) missing.push_back(name);
  }
  if (!missing.empty() && !flags.partial_weights) return MissingWeights(weights.path, missing);
  if (!found.of_missing.empty() && !flags.partial_weights) {
    return MissingPlaces(weights.path, found.of_missing);
  }
  if (!missing.empty()) {
    std::cerr << "note: " << weights.path << ": has no values of " << FirstOf(missing)
              << ", which stay as they are in the model\n";
  }
  if (found.constants > 0) {
    std::cerr << "note: " << weights.path << ": has no values of "
              << Counted(found.constants, "table") << " and constants of the program, which stay "
              << "as they are in the model\n";
  }
  if (found.states > 0) {
    std::cerr << "note: " << weights.path << ": " << Counted(found.states, "state")
              << " of training in it, with which --resume goes on and which begin anew here\n";
  }
  if (!found.of_missing.empty()) {
    std::cerr
        << "note: " << weights.path << ": passes over " << FirstOf(found.of_missing)
        << ", of which the model's file has only what was computed with the old values, or one "
        << "tensor for several\n";
  }
  if (!found.unused.empty()) {
    std::cerr << "note: " << weights.path << ": "
              << Counted(static_cast<int64_t>(found.unused.size()), "tensor")
              << " in it that the program has no parameters for: " << FirstOf(found.unused) << "\n";
  }
  files.weights = std::move(found.values);
  files.made = std::move(found.made);
  files.joined = std::move(found.joined);
  files.numbers = std::move(found.numbers);
  return absl::OkStatus();
}

// What the run is given besides tensors, as far as files say it.
RunFacts FactsOf(const RunFlags& flags, const RunPorts& ports, const RunFiles& files) {
  const EntryRun& run = files.runs.back();
  RunFacts facts;
  facts.shuffle = flags.shuffle;
  facts.settings = ports.settings;
  facts.forms = ports.forms;
  facts.data = run.prints;
  if (!flags.random.empty()) facts.data["--random"] = flags.random;
  if (files.lr.has_value()) facts.lr = files.lr->Text();
  if (run.batches != nullptr && run.examples > 0) facts.batch = run.batches->in_step();
  return facts;
}

// Whether the run goes beyond the checkpoint of --resume, as it was.
absl::Status CheckResumed(const RunFlags& flags, const RunFiles& files) {
  if (!files.checkpoint.has_value()) return absl::OkStatus();
  if (files.runs.size() > 1) {
    return UserError("--resume ", flags.resume, ": goes on with the steps of one entry, and ",
                     files.runs.size(), " run; choose it with --entry ", files.runs[0].entry);
  }
  YUBA_RETURN_IF_ERROR(CheckAsItWas(flags, files.facts, *files.checkpoint));
  const int64_t done = files.checkpoint->step, all = files.runs[0].times;
  if (done < all) return absl::OkStatus();
  return UserError(
      "--resume ", flags.resume, ": ", Counted(done, "step"), " of it ", done == 1 ? "is" : "are",
      " done, and the run has ", all,
      " in all; ask for more with --steps or --epochs, which count from the beginning");
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

absl::StatusOr<uint64_t> RandomSeed(const std::string& random) {
  uint64_t seed = 1;
  if (random == "true" || absl::SimpleAtoi(random, &seed)) return seed;
  return UserError("--random=", random, ": the seed is a whole number, as in --random=7");
}

namespace {

// What --resume latest goes on from: what --save left, or nothing yet.
absl::Status FindLatest(RunFlags& flags) {
  if (flags.resume != kLatest) return absl::OkStatus();
  if (flags.save.empty()) {
    return UserError("--resume ", kLatest,
                     ": goes on from the checkpoint at the place that --save ",
                     "names: give it too");
  }
  flags.resume = HasCheckpoint(flags.save) ? flags.save : "";
  if (flags.resume.empty()) {
    std::cerr << "note: --resume " << kLatest << ": there is no checkpoint at " << flags.save
              << " yet, so the run begins anew\n";
  }
  return absl::OkStatus();
}

// A state that the checkpoint has goes on from there, though --input gave it a value before the
// first step: the same command line, with --resume latest, begins a run and goes on with it.
// Another value than the run's is an error (CheckAsItWas), unless --override takes it.
void LeaveToCheckpoint(const RunFlags& flags, RunFiles& files) {
  if (!files.checkpoint.has_value() || flags.overrides.count("data") > 0) return;
  for (EntryRun& run : files.runs) {
    std::vector<StepFiles::Input> kept;
    for (StepFiles::Input& input : run.first.inputs) {
      const bool rate = input.name == kLearningRate && flags.overrides.count("lr-schedule") > 0;
      if (rate || files.checkpoint->tensors().count(input.name) == 0) {
        kept.push_back(std::move(input));
        continue;
      }
      std::cerr << "note: " << input.name << " goes on as in " << files.checkpoint->path()
                << "; the value of " << input.file << " is for a run's beginning\n";
    }
    run.first.inputs = std::move(kept);
  }
}

}  // namespace

absl::StatusOr<RunFiles> ReadRunFiles(const RunFlags& asked, const RunPorts& ports) {
  RunFiles files;
  RunFlags given = asked;
  YUBA_RETURN_IF_ERROR(FindLatest(given));
  RunFlags flags = given;
  if (!given.resume.empty()) {
    YUBA_ASSIGN_OR_RETURN(files.checkpoint, ReadCheckpoint(given.resume));
    flags = AsItWas(given, ports, *files.checkpoint);
    YUBA_ASSIGN_OR_RETURN(files.numbers, FindNumbers(files.checkpoint->files, ports));
    for (const auto& [name, number] : ports.numbers)  // they are no parameters
      files.checkpoint->files.file.tensors.erase(name);
  }
  if (flags.writes) {
    YUBA_RETURN_IF_ERROR(CheckOutput(flags.trace));
    YUBA_RETURN_IF_ERROR(CheckOutput(flags.log));
  }
  if (flags.seed.has_value() && !ports.random) {
    return UserError("--seed ", *flags.seed, ": the program draws no random numbers, so it has no ",
                     "seed; --random=SEED is for values that no file gives");
  }
  if (!flags.tune.empty()) {
    YUBA_ASSIGN_OR_RETURN(files.tuning, ReadTuning(flags.tune));
  }
  YUBA_RETURN_IF_ERROR(ReadParameters(flags, ports, files));
  YUBA_RETURN_IF_ERROR(ReadLearningRate(flags, ports, files));
  YUBA_ASSIGN_OR_RETURN(files.runs, ReadRuns(flags, ports, files.checkpoint));
  LeaveToCheckpoint(flags, files);
  files.facts = FactsOf(flags, ports, files);
  if (!flags.eval.empty()) {
    YUBA_ASSIGN_OR_RETURN(files.eval, ReadEval(flags, ports));
  }
  YUBA_RETURN_IF_ERROR(CheckResumed(given, files));
  YUBA_RETURN_IF_ERROR(CheckValues(flags, ports, files));
  if (!flags.writes) return files;
  for (const std::string& file : {flags.trace, flags.log})  // again: now all inputs are known
    YUBA_RETURN_IF_ERROR(CheckOutput(file));
  YUBA_RETURN_IF_ERROR(CheckSave(flags.save, flags.resume));
  YUBA_RETURN_IF_ERROR(CheckOutputFolder(flags, ports.outputs.size()));
  return files;
}

uint64_t PrintOf(const RunFiles& files) {
  runtime::Checksum print;
  const auto add = [&print](const std::string& text) { print.Add(absl::StrCat(text, "\n")); };
  const auto add_tensor = [&add](const std::string& name, ElementType type,
                                 const std::vector<int64_t>& dims) {
    add(absl::StrCat(name, " ", Name(type), " ", absl::StrJoin(dims, ",")));
  };
  for (const auto& [name, view] : files.weights)
    add_tensor(name, view.tensor.type, view.tensor.dims);
  for (const std::map<std::string, TensorData>* values : {&files.made, &files.numbers}) {
    for (const auto& [name, value] : *values) {
      add_tensor(name, value.type, value.dims);
      print.Add(value.data);
    }
  }
  for (const auto& [name, parts] : files.joined)
    add(absl::StrCat(name, " in ", parts.values.size(), " parts"));
  for (const EntryRun& run : files.runs) {
    add(absl::StrCat(run.entry, " ", run.times));
    for (const auto& [name, data] : run.prints) add(absl::StrCat(name, " ", data));
  }
  if (!files.checkpoint.has_value()) return print.value();
  add(absl::StrCat("after ", files.checkpoint->step));
  for (const auto& [key, text] : files.checkpoint->files.file.metadata)
    add(absl::StrCat(key, " ", text));
  for (const auto& [name, tensor] : files.checkpoint->tensors())
    add_tensor(name, tensor.type, tensor.dims);
  return print.value();
}

absl::Status WriteOutputs(runtime::Session& session, const RunFlags& flags,
                          const std::vector<EntryRun>& runs) {
  if (flags.output_dir.empty()) return absl::OkStatus();
  const bool writes = session.IsFirstRank();
  OutputFolder folder(flags.output_dir);
  if (writes) YUBA_RETURN_IF_ERROR(folder.Make());
  const std::vector<program::EntryRange>& entries = session.program().entries();
  const auto several = std::count_if(entries.begin(), entries.end(), [](const auto& entry) {
    return entry.name != program::kInitEntry;
  });
  const bool by_entry = several > 1;
  for (const EntryRun& run : runs) {
    OutputFolder own(by_entry ? absl::StrCat(flags.output_dir, "/", run.entry) : flags.output_dir);
    if (writes) YUBA_RETURN_IF_ERROR(own.Make());
    for (size_t i = 0; i < run.outputs.size(); ++i) {
      YUBA_ASSIGN_OR_RETURN(const TensorData tensor,
                            session.Get(run.outputs[i], runtime::Gathered::kByFirstRank));
      if (writes) YUBA_RETURN_IF_ERROR(WriteFile(own.File(i), FormatNpy(tensor)));
    }
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
