// Whether a run that goes on is the run that wrote the checkpoint: AsItWas and CheckAsItWas of
// resume.h.
#include <algorithm>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/resume.h"

namespace yuba::tools {
namespace {

// "--clip 1" and "--clip 1.0" are one.
bool SameText(const std::string& a, const std::string& b) {
  double first = 0, second = 0;
  return a == b || (absl::SimpleAtod(a, &first) && absl::SimpleAtod(b, &second) && first == second);
}

std::string OrNone(const absl::optional<uint64_t>& seed) {
  return seed.has_value() ? absl::StrCat(*seed) : "none";
}

// The seed of the random numbers that steps draw; none where they draw none.
absl::StatusOr<absl::optional<uint64_t>> SeedIn(const Checkpoint& checkpoint) {
  const auto seed = checkpoint.tensors().find(kSeedName);
  if (seed == checkpoint.tensors().end() || seed->second.bytes.length != sizeof(uint64_t))
    return absl::optional<uint64_t>();
  YUBA_ASSIGN_OR_RETURN(const std::string bytes, ReadRange(seed->second.bytes));
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return absl::make_optional(value);
}

// What --override may name in every run, besides settings that either run has.
constexpr const char* kOverrides[] = {"seed",  "shuffle", "lr-schedule", "data",
                                      "batch", "freeze",  "tie",         "tune"};

absl::Status CheckOverrides(const RunFlags& flags, const RunFacts& here, const RunFacts& there) {
  std::vector<std::string> known(std::begin(kOverrides), std::end(kOverrides));
  for (const RunFacts* facts : {&here, &there}) {
    for (const auto& [name, value] : facts->settings) {
      if (std::count(known.begin(), known.end(), name) == 0) known.push_back(name);
    }
  }
  for (const std::string& name : flags.overrides) {
    if (std::count(known.begin(), known.end(), name) > 0) continue;
    return UserError("--override ", name, ": neither this run nor that of ", flags.resume,
                     " has it; what may differ is ", absl::StrJoin(known, ", "));
  }
  return absl::OkStatus();
}

// Compares the facts of two runs.
class Comparison {
 public:
  Comparison(const RunFlags& flags, const RunFacts& here, const Checkpoint& checkpoint)
      : flags_(flags), here_(here), there_(*checkpoint.facts), checkpoint_(checkpoint) {}

  absl::Status Check() {
    YUBA_RETURN_IF_ERROR(CheckOverrides(flags_, here_, there_));
    YUBA_ASSIGN_OR_RETURN(const auto seed, SeedIn(checkpoint_));
    if (flags_.seed.has_value() && seed.has_value()) {
      YUBA_RETURN_IF_ERROR(Same("seed", OrNone(seed), OrNone(flags_.seed)));
    }
    if (flags_.data.empty() && there_.shuffle.has_value() && !Overridden("shuffle") &&
        !Overridden("data")) {
      return UserError(
          "--resume ", checkpoint_.path(), ": its run took examples of --data, in the ",
          "order of --shuffle ", *there_.shuffle,
          ", and this one has no --data: give it, or --override data,shuffle to go on ",
          "with what is given");
    }
    YUBA_RETURN_IF_ERROR(Same("shuffle", OrNone(there_.shuffle), OrNone(here_.shuffle)));
    if (!flags_.lr.empty() && !there_.lr.empty()) {
      YUBA_RETURN_IF_ERROR(Same("lr-schedule", there_.lr, here_.lr));
    }
    YUBA_RETURN_IF_ERROR(CheckSettings());
    YUBA_RETURN_IF_ERROR(CheckData());
    NoteBatch();
    return absl::OkStatus();
  }

 private:
  bool Overridden(const std::string& name) const { return flags_.overrides.count(name) > 0; }

  absl::Status Same(const std::string& name, const std::string& there,
                    const std::string& here) const {
    if (SameText(there, here) || Overridden(name)) return absl::OkStatus();
    return UserError("--resume ", checkpoint_.path(), ": its run had --", name, " ", there,
                     ", and this one has ", here, "; --override ", name, " goes on with that");
  }

  absl::Status CheckSettings() const {
    std::map<std::string, std::string> names = there_.settings;
    names.insert(here_.settings.begin(), here_.settings.end());
    const auto value = [](const RunFacts& facts, const std::string& name) {
      const auto found = facts.settings.find(name);
      return found == facts.settings.end() ? std::string("none") : found->second;
    };
    for (const auto& [name, either] : names) {
      YUBA_RETURN_IF_ERROR(Same(name, value(there_, name), value(here_, name)));
    }
    return absl::OkStatus();
  }

  absl::Status CheckData() const {
    // Steps that train take the same data; others, such as those of a decoder, what comes next.
    if (Overridden("data") || here_.settings.empty()) return absl::OkStatus();
    for (const auto& [input, print] : here_.data) {
      const auto known = there_.data.find(input);
      if (known != there_.data.end() && known->second == print) continue;
      return UserError("--resume ", checkpoint_.path(), ": the values of ", input,
                       " are not those of its run, which had ",
                       known == there_.data.end() ? "none" : known->second, ", and here is ", print,
                       "; --override data goes on with these");
    }
    return absl::OkStatus();
  }

  void NoteBatch() const {
    if (there_.batch == here_.batch || there_.batch == 0 || here_.batch == 0) return;
    if (Overridden("batch") || Overridden("data")) return;
    std::cerr << "note: " << checkpoint_.path() << ": its steps took "
              << Counted(there_.batch, "example") << ", and these take " << here_.batch
              << "; they go on behind example " << there_.position.seen << " of epoch "
              << there_.position.epoch + 1 << "\n";
  }

  const RunFlags& flags_;
  const RunFacts &here_, &there_;
  const Checkpoint& checkpoint_;
};

}  // namespace

RunFlags AsItWas(const RunFlags& flags, const RunPorts& ports, const Checkpoint& checkpoint) {
  RunFlags was = flags;
  if (!checkpoint.facts.has_value()) return was;
  if (!flags.data.empty() && !flags.shuffle.has_value() && flags.overrides.count("shuffle") == 0)
    was.shuffle = checkpoint.facts->shuffle;
  const bool has_rate = ports.types.count(kLearningRate) > 0;
  if (has_rate && flags.lr.empty() && flags.overrides.count("lr-schedule") == 0)
    was.lr = checkpoint.facts->lr;
  return was;
}

absl::Status CheckAsItWas(const RunFlags& flags, const RunFacts& facts,
                          const Checkpoint& checkpoint) {
  if (checkpoint.facts.has_value()) return Comparison(flags, facts, checkpoint).Check();
  YUBA_RETURN_IF_ERROR(CheckOverrides(flags, facts, RunFacts()));
  std::cerr << "note: " << checkpoint.path()
            << ": an older version wrote it, which does not say its data, their order and the "
               "learning rate: those that are given here are taken\n";
  return absl::OkStatus();
}

absl::Status CheckTuning(const RunFlags& flags, const RunFacts& facts,
                         const Checkpoint& checkpoint) {
  if (!checkpoint.facts.has_value() || flags.overrides.count("tune") > 0) return absl::OkStatus();
  const absl::optional<TuningFacts>&here = facts.tuning, &there = checkpoint.facts->tuning;
  const auto file = [](const absl::optional<TuningFacts>& tuning) {
    return tuning.has_value() ? tuning->file : std::string("none");
  };
  if (here.has_value() != there.has_value()) {
    return UserError("--resume ", checkpoint.path(), ": its run had --tune ", file(there),
                     ", and this one has ", file(here), "; --override tune goes on with that");
  }
  if (!here.has_value()) return absl::OkStatus();
  for (const auto& [call, algorithm] : here->choices) {
    const auto known = there->choices.find(call);
    if (known == there->choices.end() || known->second == algorithm) continue;
    return UserError("--resume ", checkpoint.path(), ": its run, with --tune ", there->file,
                     ", computed ", call, " by ", known->second, ", and this one, with ",
                     here->file, ", does by ", algorithm, "; --override tune goes on with that");
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
