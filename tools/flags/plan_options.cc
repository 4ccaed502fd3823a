#include "tools/flags/plan_options.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "opsemantics/base/status.h"

namespace yuba::tools {
namespace {

using Options = std::map<std::string, std::string>;

// Options of a plan that are no flags of a model: those of its search, of which pins are numbered,
// and a hash of each value that was bound.
constexpr const char* kOtherOptions[] = {
    "bind_hash", "copies", "devices",   "machine", "memory", "no-check", "no-verify",
    "objective", "pin",    "replicate", "search",  "space",  "without"};

// The flag of an option, "dim" of "dim.batch", and what stands behind the point; null where the
// option is no flag of a model.
std::pair<const ModelFlag*, std::string> FlagOf(const std::string& option) {
  for (const ModelFlag& flag : ModelFlagTable()) {
    absl::string_view rest = option;
    if (!absl::ConsumePrefix(&rest, flag.name)) continue;
    const bool keyed = flag.form == FlagForm::kNamed || flag.form == FlagForm::kListed;
    if (rest.empty() && !keyed) return {&flag, ""};
    if (keyed && absl::ConsumePrefix(&rest, ".")) return {&flag, std::string(rest)};
  }
  return {nullptr, ""};
}

// The options in today's names. Until flags were one table, frozen rows, the output of the loss and
// how often an entry runs had flags of their own (decision 131).
Options InTodaysNames(const Options& options) {
  Options renamed;
  std::map<std::string, std::string> times;  // by entry
  for (const auto& [name, value] : options) {
    absl::string_view key = name;
    if (absl::ConsumePrefix(&key, "freeze-rows.")) {
      renamed[absl::StrCat("freeze.", key)] = value;
    } else if (absl::ConsumePrefix(&key, "times.")) {
      times[std::string(key)] = value;
    } else {
      renamed[name] = value;
    }
  }
  const auto take = [&renamed](const char* name) {
    const auto option = renamed.extract(name);
    return option.empty() ? std::string() : option.mapped();
  };
  if (const std::string output = take("loss-output"); !output.empty()) {
    absl::StrAppend(&renamed["loss"], "@", output);
  }
  if (const std::string every = take("eval-every"); !every.empty()) renamed["eval-entry"] = every;
  for (auto& [name, entry] : renamed) {
    if (!absl::StartsWith(name, "entry.")) continue;
    const size_t end = std::min(entry.find(':'), entry.size());
    const auto found = times.find(entry.substr(0, end));
    if (found == times.end()) continue;
    entry.insert(end, absl::StrCat("*", found->second));
    times.erase(found);
  }
  for (const auto& [entry, value] : times) renamed[absl::StrCat("times.", entry)] = value;
  return renamed;
}

// The message with `field` in the place of the flag, where it is not the beginning of another one.
std::string WithField(const std::string& message, const std::string& flag,
                      const std::string& field) {
  std::string named;
  size_t at = 0;
  for (size_t found; (found = message.find(flag, at)) != std::string::npos;) {
    const size_t end = found + flag.size();
    const bool whole =
        end == message.size() || !(absl::ascii_isalnum(message[end]) || message[end] == '-');
    absl::StrAppend(&named, message.substr(at, found - at), whole ? field : flag);
    at = end;
  }
  return absl::StrCat(named, message.substr(at));
}

}  // namespace

std::map<std::string, std::string> PlanOptions(const ModelFlags& flags) {
  Options options;
  for (const auto& [name, values] : flags.given) {
    const ModelFlag& flag = *FindModelFlag(name);
    for (size_t i = 0; i < values.size(); ++i) {
      const NamedValue parts = SplitNamed(values[i]);
      switch (flag.form) {
        case FlagForm::kText:
        case FlagForm::kSwitch: options[name] = values[i]; break;
        case FlagForm::kNamed: options[absl::StrCat(name, ".", parts.first)] = parts.second; break;
        case FlagForm::kListed: options[absl::StrCat(name, ".", i)] = values[i]; break;
      }
    }
  }
  // What is trained by default is not for a later build to say.
  if (flags.given.count("train") > 0 && flags.given.count("lr") == 0) {
    options["lr"] = absl::StrCat(onnx::TrainOptions().lr);
  }
  if (!flags.factors) options["space"] = "flat";
  return options;
}

absl::Status CheckOptions(const search::PlanNotes& notes) {
  for (const auto& [name, value] : InTodaysNames(notes.options)) {
    const auto& [flag, key] = FlagOf(name);
    if (flag != nullptr) {
      if (flag->form != FlagForm::kSwitch || value == "true") continue;
      return UserError("options.", name, " is \"", value, "\", expected \"true\"");
    }
    const std::string kind = name.substr(0, name.find('.'));
    if (std::count(std::begin(kOtherOptions), std::end(kOtherOptions), kind) > 0) continue;
    return UserError(
        "options.", name, " is an option that plans do not have; they have ",
        absl::StrJoin(kOtherOptions, ", "), ", ",
        absl::StrJoin(ModelFlagTable(), ", ", [](std::string* out, const ModelFlag& flag_of_table) {
          out->append(flag_of_table.name);
        }));
  }
  return absl::OkStatus();
}

absl::Status TakeOptions(const search::PlanNotes& notes, ModelFlags& flags) {
  YUBA_RETURN_IF_ERROR(CheckOptions(notes));
  const Options bound = PlanOptions(flags);
  std::map<std::string, std::map<int, std::string>> listed;
  for (const auto& [name, value] : InTodaysNames(notes.options)) {
    if (name == "space" && (value == "flat" || value == "tofu")) flags.factors = false;
    const auto& [flag, key] = FlagOf(name);
    if (flag == nullptr || bound.count(name) > 0) continue;
    if (flag->form == FlagForm::kListed) {
      int place = 0;
      if (!absl::SimpleAtoi(key, &place)) {
        return UserError("options.", name, ": expected options.", flag->name, ".NUMBER");
      }
      listed[flag->name][place] = value;
    } else if (flag->form == FlagForm::kNamed) {
      flags.given[flag->name].push_back(value.empty() ? key : absl::StrCat(key, "=", value));
    } else {
      flags.given[flag->name] = {value};
    }
  }
  for (const auto& [name, values] : listed) {
    for (const auto& [place, value] : values) flags.given[name].push_back(value);
  }
  return absl::OkStatus();
}

std::map<std::string, std::string> SettingsOf(const ModelFlags& flags) {
  Options settings;
  for (const ModelFlag& flag : ModelFlagTable()) {
    const auto given = flags.given.find(flag.name);
    if (!flag.computes || given == flags.given.end()) continue;
    std::vector<std::string> values = given->second;
    if (flag.form == FlagForm::kNamed) {
      // Names alone, as of frozen parameters, say what is trained, which checkpoints know.
      const auto is_name = [](const std::string& value) { return !absl::StrContains(value, '='); };
      values.erase(std::remove_if(values.begin(), values.end(), is_name), values.end());
      std::sort(values.begin(), values.end());
    }
    const std::string text = absl::StrJoin(values, " ");
    if (!text.empty() && text != Name(ElementType::kF32)) settings[flag.name] = text;
  }
  return settings;
}

absl::Status NameOptions(const absl::Status& status, const ModelFlags& given,
                         const std::string& plan_file, const search::PlanNotes& notes) {
  const Options mine = PlanOptions(given);
  std::string message(status.message());
  bool named = false;
  for (const auto& [name, value] : InTodaysNames(notes.options)) {
    const auto& [flag, key] = FlagOf(name);
    if (flag == nullptr || mine.count(name) > 0) continue;
    std::string text = absl::StrCat("--", flag->name);
    if (flag->form == FlagForm::kNamed) absl::StrAppend(&text, " ", key);
    if (flag->form == FlagForm::kListed) absl::StrAppend(&text, " ", value);
    const std::string field = absl::StrCat("options.", name);
    std::string with = WithField(message, text, field);
    if (with == message && flag->name == std::string("bind") &&
        absl::StartsWith(message, value + ": ")) {  // the file
      with = absl::StrCat(field, ": ", message);
    }
    named |= with != message;
    message = std::move(with);
  }
  if (!named) return status;
  return absl::Status(status.code(), absl::StrCat(plan_file, ": ", message, ": plan again"));
}

absl::Status CheckBound(const std::map<std::string, std::string>& bound,
                        const search::PlanNotes& notes) {
  for (const auto& [name, hash] : bound) {
    const auto expected = notes.options.find("bind_hash." + name);
    if (expected == notes.options.end()) {
      return UserError("the plan does not say the value of the bound input ", name,
                       ": leave --bind out, or plan again");
    }
    if (expected->second == hash) continue;
    return UserError("the file bound to ", name, " has other contents (hash ", hash,
                     ") than when the plan was made (", expected->second,
                     "): bind the same values or plan again");
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
