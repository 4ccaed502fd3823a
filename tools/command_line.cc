#include "tools/command_line.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "opsemantics/base/status.h"
#include "tools/flags/old_flags.h"
#include "tools/report/nearest.h"

namespace yuba::tools {
namespace {

CLI::Validator NumberWhere(bool (*holds)(double), const std::string& what) {
  return CLI::Validator(
      [holds, what](std::string& text) {
        double number = 0;
        const bool good = absl::SimpleAtod(text, &number) && std::isfinite(number) && holds(number);
        return good ? std::string() : absl::StrCat(text, " is not ", what);
      },
      "");
}

// "MB" -> 1e6, "MiB" and "Mi" -> 2^20, in any case; 0: no unit.
double Unit(const std::string& text) {
  const std::string unit = absl::AsciiStrToLower(text);
  if (unit.empty() || unit == "b") return 1;
  const size_t power = std::string("kmgtp").find(unit[0]);
  if (power == std::string::npos) return 0;
  const std::string rest = unit.substr(1);
  if (rest.empty() || rest == "b") return std::pow(1000.0, power + 1);
  return rest == "i" || rest == "ib" ? std::pow(1024.0, power + 1) : 0;
}

// Says of an option that takes one value at a time, but may be given again, that it is so; CLI11's
// "..." would promise several values behind one flag.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    if (option->get_allow_extra_args()) return text;
    return absl::StrReplaceAll(text, {{" ...", " (again for each)"}});
  }
};

// The subcommand that was called, as the user writes it: "yuba partition".
std::string NameOf(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    absl::StrAppend(&name, " ", at->get_name());
  }
  return name;
}

// What is said of arguments that no option takes, in the order in which they were given.
std::string UnknownText(const CLI::App& app, WhyNotTaken why) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands()[0];
  std::vector<std::string> flags, given = command->remaining();
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
  }
  std::string near;
  for (const std::string& word : given) {
    const std::string flag = word.substr(0, word.find('='));
    std::string now = OldFlag(command->get_name(), flag);
    if (now.empty() && why != nullptr) now = why(*command, flag);
    if (!now.empty()) return absl::StrCat("no option takes ", flag, ": ", now, "; ");
    if (near.empty() && absl::StartsWith(word, "-")) near = NearestOf(flag, flags);
  }
  const bool flag = std::any_of(given.begin(), given.end(), [](const std::string& word) {
    return absl::StartsWith(word, "-");
  });
  return absl::StrCat("no option takes ", absl::StrJoin(given, " "), "; ",
                      !near.empty() ? absl::StrCat("did you mean ", near, "? ")
                      : flag        ? ""
                                    : "a flag that takes several values is given again for each; ");
}

}  // namespace

CLI::Validator WholeNumber(int64_t low, int64_t high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        int64_t number = 0;
        if (absl::SimpleAtoi(text, &number) && number >= low && number <= high) {
          text = absl::StrCat(number);  // CLI11 reads 010 as 8
          return std::string();
        }
        return absl::StrCat(text, " is not a whole number from ", low,
                            high == INT64_MAX ? "" : absl::StrCat(" to ", high));
      },
      "");
}

CLI::Validator Seed() {
  return CLI::Validator(
      [](std::string& text) {
        uint64_t seed = 0;
        if (!absl::SimpleAtoi(text, &seed)) {
          return absl::StrCat(text, " is not a whole number from 0");
        }
        text = absl::StrCat(seed);  // as above
        return std::string();
      },
      "");
}

CLI::Validator NumberAbove0() {
  return NumberWhere([](double number) { return number > 0; }, "a number above 0");
}

CLI::Validator NumberFrom0() {
  return NumberWhere([](double number) { return number >= 0; }, "a number from 0");
}

CLI::Validator SizeInBytes() {
  return CLI::Validator(
      [](std::string& text) {
        const size_t end = text.find_last_of("0123456789.") + 1;  // of the number
        double number = 0;
        const double unit = Unit(std::string(absl::StripAsciiWhitespace(text.substr(end))));
        if (unit == 0 || !absl::SimpleAtod(text.substr(0, end), &number) || !(number > 0)) {
          return absl::StrCat(text, " is not a size, as in 40MB, 1.5GB or 24GiB");
        }
        if (number * unit > static_cast<double>(kMostMemory)) {
          return absl::StrCat(text, " is more than any device has: at most 1PiB");
        }
        if (number * unit < 1) return absl::StrCat(text, " is less than a byte");
        text = absl::StrCat(std::llround(number * unit));
        return std::string();
      },
      "SIZE");
}

void OneValueAtATime(CLI::App* app) {
  app->formatter(std::make_shared<HelpFormatter>());
  for (CLI::Option* option : app->get_options()) {
    // Words without a flag are told apart by their places.
    option->allow_extra_args(option->get_positional() && option->get_items_expected_max() > 1);
  }
}

std::string ShellWord(const std::string& text) {
  const auto plain = [](char c) { return absl::ascii_isalnum(c) || std::strchr("_@%+=:,./-", c); };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string ShellFile(const std::string& file) {
  return ShellWord(absl::StartsWith(file, "-") ? "./" + file : file);
}

absl::Status RefuseEmptyValues(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.empty()) return UserError(option->get_name(), ": its value is empty");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSubcommand(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || absl::StartsWith(argv[1], "-")) return absl::OkStatus();
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (names.empty() || std::count(names.begin(), names.end(), argv[1]) > 0) return absl::OkStatus();
  const std::string now = OldFlag(app.get_name(), argv[1]);
  if (!now.empty()) return UserError("unknown command '", argv[1], "': ", now);
  const std::string near = NearestOf(argv[1], names);
  return UserError(
      "unknown command '", argv[1], "'; ",
      near.empty() ? "there are " : absl::StrCat("did you mean ", near, "? There are "),
      absl::StrJoin(names, ", "));
}

int ReportParseError(const CLI::App& app, const CLI::ParseError& error, WhyNotTaken why) {
  if (error.get_exit_code() == 0) return app.exit(error);
  const std::string name = NameOf(app);
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  std::cerr << name << ": " << (extra ? UnknownText(app, why) : absl::StrCat(error.what(), "; "))
            << name << " --help lists what there is\n";
  return 2;
}

}  // namespace yuba::tools
