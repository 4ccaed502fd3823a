#include "tools/plan_options.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "tools/model_flags.h"

namespace yuba::tools {
namespace {

// The flags of a model that take NAME=VALUE; a plan keeps them as options FLAG.NAME.
constexpr const char* kNamedFlags[] = {"dim", "bind",   "state",       "cache",    "times",
                                       "tie", "freeze", "freeze-rows", "trainable"};

// A flag that a plan keeps as "true".
constexpr char kAllowMissing[] = "allow-missing-parameters";

// The flags of a training step that take one text; a plan keeps them by these names.
constexpr std::pair<const char*, std::string ModelFlags::*> kTrainFlags[] = {
    {"train", &ModelFlags::train},
    {"loss", &ModelFlags::loss},
    {"loss-output", &ModelFlags::loss_output},
    {"metrics", &ModelFlags::metrics},
    {"minimize", &ModelFlags::minimize},
    {"lr", &ModelFlags::lr},
    {"clip", &ModelFlags::clip},
    {"precision", &ModelFlags::precision},
    {"micro-batches", &ModelFlags::micro_batches},
    {"eval-every", &ModelFlags::eval_every}};

// The flags that say which part of the model is meant and what its batch is, kept as the flags of
// training are.
constexpr std::pair<const char*, std::string ModelFlags::*> kPartFlags[] = {
    {"from-tensors", &ModelFlags::from_tensors},
    {"to-tensors", &ModelFlags::to_tensors},
    {"batch-dim", &ModelFlags::batch_dim}};

// The flag of kTrainFlags or kPartFlags, or null.
std::string ModelFlags::* TextFlag(const std::string& option) {
  for (const auto& [name, flag] : kTrainFlags) {
    if (option == name) return flag;
  }
  for (const auto& [name, flag] : kPartFlags) {
    if (option == name) return flag;
  }
  return nullptr;
}

}  // namespace

std::map<std::string, std::string> PlanOptions(const ModelFlags& flags) {
  std::map<std::string, std::string> options;
  const auto add = [&](const char* flag, const std::vector<std::string>& given) {
    for (const std::string& text : given) {
      const NamedValue parts = SplitNamed(text);
      options[absl::StrCat(flag, ".", parts.first)] = parts.second;
    }
  };
  add("dim", flags.dims);
  add("bind", flags.bind);
  add("state", flags.states);
  add("cache", flags.caches);
  add("times", flags.times);
  add("tie", flags.ties);
  add("freeze-rows", flags.freeze_rows);
  for (size_t e = 0; e < flags.entries.size(); ++e) {  // their order counts
    options[absl::StrCat("entry.", e)] = flags.entries[e];
  }
  if (flags.init) options["init"] = "true";
  if (flags.allow_missing) options[kAllowMissing] = "true";
  for (const auto& [name, text] : kTrainFlags) {
    const bool needed = !flags.train.empty() && !(flags.*text).empty();
    if (needed) options[name] = flags.*text;
  }
  for (const auto& [name, text] : kPartFlags) {
    if (!(flags.*text).empty()) options[name] = flags.*text;
  }
  for (const std::string& pattern : flags.freeze) options[absl::StrCat("freeze.", pattern)] = "";
  for (const std::string& pattern : flags.trainable)
    options[absl::StrCat("trainable.", pattern)] = "";
  if (flags.batch > 0) options["batch"] = absl::StrCat(flags.batch);
  if (!flags.factors) options["space"] = "flat";
  return options;
}

namespace {

// Whether the option is one of --entry, which a plan numbers: "entry.0".
bool IsEntry(const std::string& option) { return absl::StartsWith(option, "entry."); }

}  // namespace

std::string NamedFlag(const std::string& option) {
  for (const char* flag : kNamedFlags) {
    if (absl::StartsWith(option, absl::StrCat(flag, "."))) return flag;
  }
  return "";
}

bool ShapesGraph(const std::string& option) {
  return option == "batch" || option == "init" || option == kAllowMissing || IsEntry(option) ||
         TextFlag(option) != nullptr || !NamedFlag(option).empty();
}

namespace {

// "dim.batch" -> "--dim batch=", "batch" -> "--batch ": the flag for an option of a plan file.
std::string FlagText(const std::string& name, const std::string& value) {
  const std::string flag = NamedFlag(name);
  if (name == "init" || name == kAllowMissing) return absl::StrCat("--", name);
  if (IsEntry(name)) return absl::StrCat("--entry ", value);
  if (flag.empty()) return absl::StrCat("--", name, " ", value);
  return absl::StrCat("--", flag, " ", name.substr(flag.size() + 1), "=", value);
}

}  // namespace

absl::Status ExplainOptions(const absl::Status& status, const ModelFlags& given,
                            const search::PlanNotes& notes) {
  std::vector<std::string> made, added;
  for (const auto& [name, value] : PlanOptions(given)) {
    if (notes.options.count(name) == 0) added.push_back(FlagText(name, value));
  }
  if (status.ok() || added.empty()) return status;
  for (const auto& [name, value] : notes.options) {
    if (ShapesGraph(name)) made.push_back(FlagText(name, value));
  }
  return Annotate(
      status,
      absl::StrCat(absl::StrJoin(added, " "), " is given, but the plan was made with ",
                   made.empty()
                       ? "none of --from-tensors, --to-tensors, --dim, --batch, --batch-dim, "
                         "--bind, --state, --cache and --entry"
                       : absl::StrJoin(made, " ")));
}

absl::Status CheckBound(const std::map<std::string, std::string>& bound,
                        const search::PlanNotes& notes) {
  for (const auto& [name, hash] : bound) {
    const auto expected = notes.options.find("bind_hash." + name);
    if (expected == notes.options.end()) {
      return UserError("the plan does not say the value of the bound input ", name, ": plan again");
    }
    if (expected->second == hash) continue;
    return UserError("the file bound to ", name, " has other contents (hash ", hash,
                     ") than when the plan was made (", expected->second,
                     "): bind the same values or plan again");
  }
  return absl::OkStatus();
}

absl::Status TakeOptions(const search::PlanNotes& notes, ModelFlags& flags) {
  const std::map<std::string, std::string> given = PlanOptions(flags);
  for (const auto& [name, value] : notes.options) {
    const std::string flag = NamedFlag(name);
    const bool bind = flag == "bind";
    if (name == "space" && (value == "flat" || value == "tofu")) flags.factors = false;
    if (!ShapesGraph(name)) continue;
    const auto mine = given.find(name);
    if (mine != given.end()) {
      if (mine->second == value || bind)
        continue;  // a bound value may be read elsewhere: CheckBound
      return UserError("the plan was made with ", FlagText(name, value), ", not ",
                       FlagText(name, mine->second), ": leave the flag out or plan again");
    }
    if (IsEntry(name)) continue;  // they come below, in their order
    if (name == "init" || name == kAllowMissing) {
      (name == "init" ? flags.init : flags.allow_missing) = true;
      continue;
    }
    if (const auto text = TextFlag(name); text != nullptr) {
      flags.*text = value;
      continue;
    }
    if (flag == "freeze" || flag == "trainable") {
      std::vector<std::string>& patterns = flag == "freeze" ? flags.freeze : flags.trainable;
      patterns.push_back(name.substr(flag.size() + 1));
      continue;
    }
    if (flag.empty()) {
      YUBA_CHECK(absl::SimpleAtoi(value, &flags.batch));  // as ReadPlan has it
      continue;
    }
    std::vector<std::string>& given_flags = bind                    ? flags.bind
                                            : flag == "dim"         ? flags.dims
                                            : flag == "cache"       ? flags.caches
                                            : flag == "times"       ? flags.times
                                            : flag == "tie"         ? flags.ties
                                            : flag == "freeze-rows" ? flags.freeze_rows
                                                                    : flags.states;
    given_flags.push_back(absl::StrCat(name.substr(flag.size() + 1), "=", value));
  }
  for (size_t e = flags.entries.size(); notes.options.count(absl::StrCat("entry.", e)) > 0; ++e) {
    flags.entries.push_back(notes.options.at(absl::StrCat("entry.", e)));
  }
  return absl::OkStatus();
}

std::map<std::string, std::string> SettingsOf(const ModelFlags& flags) {
  std::map<std::string, std::string> settings;
  if (flags.train.empty()) return settings;
  std::vector<std::string> rows = flags.freeze_rows;
  std::sort(rows.begin(), rows.end());
  settings = {{"train", flags.train},
              {"loss", flags.loss},
              {"loss-output", flags.loss_output},
              {"minimize", flags.minimize},
              {"freeze-rows", absl::StrJoin(rows, " ")},
              {"clip", flags.clip},
              {"precision", flags.precision == Name(ElementType::kF32) ? "" : flags.precision}};
  for (auto at = settings.begin(); at != settings.end();) {
    at = at->second.empty() ? settings.erase(at) : std::next(at);
  }
  return settings;
}

}  // namespace yuba::tools
