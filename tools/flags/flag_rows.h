// A table of flags whose values are members of one structure. The tables of `partition` and of
// `run` have this form; that of a model's flags has more (model_flags.h).
//
// Example: with struct RunFlags { int steps = 0; ... },
//   constexpr FlagRow<RunFlags> kRows[] = {
//       {"steps", &RunFlags::steps, "Data", "steps to run; default: one", [] { return Count(); }},
//       ...};
//   AddRows<RunFlags>(app, kRows, flags);
// makes `--steps 20` put 20 into flags.steps, and --help show it below the heading "Data".
#ifndef YUBA_TOOLS_FLAGS_FLAG_ROWS_H_
#define YUBA_TOOLS_FLAGS_FLAG_ROWS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "absl/types/variant.h"

namespace yuba::tools {

template <typename Flags>
struct FlagRow {
  const char* name;  // without its --; "o,output" has a short form
  // Where its value goes. A bool is a switch. A list is given again for each value, as is a set,
  // whose values may also stand behind one another with commas between. What is there before is the
  // default; --help shows it unless it is an empty text, 0 or none.
  absl::variant<bool Flags::*, int Flags::*, int64_t Flags::*, double Flags::*,
                std::string Flags::*, std::vector<std::string> Flags::*,
                std::set<std::string> Flags::*, absl::optional<double> Flags::*,
                absl::optional<int64_t> Flags::*, absl::optional<uint64_t> Flags::*>
      member;
  const char* group;  // a heading of --help
  const char* help;
  CLI::Validator (*check)() = nullptr;  // of each value, which it may rewrite; null: any text
  const char* needs = "";               // a flag before it in the table, without which it is none
  const char* excludes = "";            // one with which it cannot be given
};

namespace flag_rows_internal {

// "steps" -> "--steps", "o,output" -> "-o,--output".
inline std::string Dashed(const std::string& name) {
  const size_t comma = name.find(',');
  if (comma == std::string::npos) return absl::StrCat("--", name);
  return absl::StrCat("-", name.substr(0, comma), ",--", name.substr(comma + 1));
}

template <typename T>
CLI::Option* Add(CLI::App* app, const std::string& name, T& value, const char* help) {
  CLI::Option* option = app->add_option(name, value, help);
  return value == T() ? option : option->capture_default_str();
}
inline CLI::Option* Add(CLI::App* app, const std::string& name, bool& value, const char* help) {
  return app->add_flag(name, value, help);
}
inline CLI::Option* Add(CLI::App* app, const std::string& name, std::vector<std::string>& value,
                        const char* help) {
  return app->add_option(name, value, help)->take_all();
}
inline CLI::Option* Add(CLI::App* app, const std::string& name, std::set<std::string>& value,
                        const char* help) {
  return app->add_option(name, value, help)->take_all()->delimiter(',');
}
template <typename T>
CLI::Option* Add(CLI::App* app, const std::string& name, absl::optional<T>& value,
                 const char* help) {
  return app->add_option_function<T>(name, [&value](const T& given) { value = given; }, help);
}

}  // namespace flag_rows_internal

// Adds all rows; `flags` must outlive `app`.
template <typename Flags>
void AddRows(CLI::App* app, absl::Span<const FlagRow<Flags>> rows, Flags& flags) {
  for (const FlagRow<Flags>& row : rows) {
    CLI::Option* option = absl::visit(
        [&](auto member) {
          return flag_rows_internal::Add(app, flag_rows_internal::Dashed(row.name), flags.*member,
                                         row.help);
        },
        row.member);
    option->group(row.group);
    if (row.check != nullptr) option->transform(row.check());
    if (*row.needs != '\0') option->needs(app->get_option(absl::StrCat("--", row.needs)));
    if (*row.excludes != '\0') option->excludes(app->get_option(absl::StrCat("--", row.excludes)));
  }
}

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_FLAG_ROWS_H_
