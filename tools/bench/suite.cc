#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/bench/machine.h"
#include "tools/bench/subcommands.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::json;

// One search to measure, and the figures that it should reach.
struct SuiteRun {
  std::string model;  // a path below the folder of models
  std::vector<std::string> flags;
  int devices = 8;
  std::string search = "default";
  std::string name, saves_of;  // of this run; of the run that it should move fewer bytes than
  double seconds = 0, gap = -1, megabytes = 0;  // targets; gap (percent) -1 and megabytes 0: none
  double saves = 0;                             // target, percent of the bytes of run `saves_of`
};

// One problem to solve, and the best cost that others have published.
struct SuiteProblem {
  std::string file;
  int seconds = 60;
  int64_t published = 0;
  double within = 10;  // target: at most so many percent above it
};

struct Suite {
  std::vector<SuiteRun> runs;
  std::vector<SuiteProblem> problems;
};

SuiteRun RunOf(const Json& entry) {
  SuiteRun run;
  run.model = entry.at("model").get<std::string>();
  run.flags = entry.value("flags", std::vector<std::string>());
  run.devices = entry.value("devices", 8);
  run.search = entry.value("search", "default");
  run.name = entry.value("name", "");
  run.seconds = entry.at("seconds").get<double>();
  run.gap = entry.value("gap", -1.0);
  run.megabytes = entry.value("peak_megabytes", 0.0);
  run.saves_of = entry.value("saves_of", "");
  run.saves = entry.value("saves_percent", 0.0);
  return run;
}

// A key that is misspelt would be a target that nobody checks.
absl::Status CheckKeys(const Json& entries, const std::set<std::string>& known) {
  for (const Json& entry : entries) {
    for (const auto& [key, value] : entry.items()) {
      if (known.count(key) > 0) continue;
      return UserError("\"", key, "\" is no key of a row; there are ", absl::StrJoin(known, ", "));
    }
  }
  return absl::OkStatus();
}

// Runs are compared with others that come before them.
absl::Status CheckNames(const Suite& suite) {
  std::set<std::string> names;
  for (const SuiteRun& run : suite.runs) {
    if (!run.saves_of.empty() && names.count(run.saves_of) == 0) {
      return UserError("the run of ", run.model, " has saves_of \"", run.saves_of,
                       "\": no run before it has that name");
    }
    if (!run.name.empty() && !names.insert(run.name).second) {
      return UserError("two runs have the name \"", run.name, "\"");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Suite> ReadSuite(const std::string& file) {
  YUBA_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  Suite suite;
  try {
    const Json json = Json::parse(text);
    const Json& runs = json.at("runs");
    const Json problems = json.value("problems", Json::array());
    YUBA_RETURN_IF_ERROR(
        Annotate(CheckKeys(runs, {"model", "flags", "devices", "search", "name", "seconds", "gap",
                                  "peak_megabytes", "saves_of", "saves_percent"}),
                 file));
    YUBA_RETURN_IF_ERROR(
        Annotate(CheckKeys(problems, {"file", "seconds", "published", "within_percent"}), file));
    for (const Json& entry : runs) suite.runs.push_back(RunOf(entry));
    for (const Json& entry : problems) {
      suite.problems.push_back({entry.at("file").get<std::string>(), entry.at("seconds").get<int>(),
                                entry.at("published").get<int64_t>(),
                                entry.value("within_percent", 10.0)});
    }
  } catch (const Json::exception& error) {
    return UserError(file, ": not a suite of runs: ", error.what(),
                     "; docs/search_suite.json shows the form");
  }
  YUBA_RETURN_IF_ERROR(Annotate(CheckNames(suite), file));
  return suite;
}

// What a command prints; an error with its exit code where it fails.
absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& words) {
  const std::string line = absl::StrJoin(
      words, " ", [](std::string* out, const std::string& word) { out->append(ShellWord(word)); });
  FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return InternalError("no process could be started");
  std::string text;
  char buffer[4096];
  while (size_t got = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  const int code = pclose(pipe);
  if (code != 0) return InternalError("exit code ", code / 256);
  return text;
}

// `file` below the folder of models, or as it is.
std::string PathOf(const std::string& models, const std::string& file) {
  const std::filesystem::path there = std::filesystem::path(models) / file;
  return std::filesystem::exists(there) ? there.string() : file;
}

absl::StatusOr<Json> Measured(const SuiteRun& run, const std::string& models) {
  std::vector<std::string> words = {ThisProgram(),
                                    "search",
                                    PathOf(models, run.model),
                                    "--devices",
                                    absl::StrCat(run.devices),
                                    "--search",
                                    run.search,
                                    "--json"};
  words.insert(words.end(), run.flags.begin(), run.flags.end());
  YUBA_ASSIGN_OR_RETURN(const std::string text, OutputOf(words));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InternalError("printed no JSON");
  return json.at("runs").at(0);
}

// "0.12 (0.5)": a figure and its target, with a mark where it is missed.
std::string Against(double value, double target, const char* format) {
  std::string text = absl::StrFormat("%.*f", format[0] - '0', value);
  if (target < 0) return text;
  return absl::StrCat(text, value <= target ? " (" : " **(", target, value <= target ? ")" : ")**");
}

// The bytes that a run moves, and how many percent fewer than the run it is compared with.
std::string Moved(const SuiteRun& run, double bytes, const std::map<std::string, double>& others) {
  const std::string text = absl::StrFormat("%.2f", bytes / 1e6);
  if (run.saves_of.empty()) return text;
  const auto other = others.find(run.saves_of);
  if (other == others.end()) return absl::StrCat(text, ", **", run.saves_of, " failed**");
  if (other->second == 0) return text;  // nothing to save
  const double saved = 100 * (1 - bytes / other->second);
  const char* mark = saved >= run.saves ? "" : "**";
  return absl::StrFormat("%s, %s%.1f %% fewer (%g)%s", text, mark, saved, run.saves, mark);
}

std::vector<std::string> Row(const SuiteRun& run, const absl::StatusOr<Json>& json,
                             std::map<std::string, double>* bytes_of, int* failed) {
  std::vector<std::string> row = {
      "| " + run.model, absl::StrCat("| ", run.devices),
      absl::StrCat("| ", run.search, " ", absl::StrJoin(run.flags, " "))};
  if (!json.ok()) {
    row.push_back(absl::StrCat("| failed: ", json.status().message(), " | | | | | |"));
    ++*failed;
    return row;
  }
  const double bytes = json->at("bytes");
  const Json& known = json->at("asked_lower_bound");  // null: no gap is known
  const double bound = known.is_null() ? 0 : known.get<double>();
  const double gap = bytes == 0 ? 0 : 100 * (bytes - bound) / bytes;
  const double seconds =
      json->at("seconds").get<double>() + json->at("check_seconds").get<double>();
  row.push_back("| " + Against(seconds, run.seconds, "3"));
  const bool is_missed = known.is_null() && run.gap >= 0;
  row.push_back(is_missed         ? absl::StrCat("| **- (", run.gap, ")**")
                : known.is_null() ? "| -"
                                  : "| " + Against(gap, run.gap, "2"));
  row.push_back("| " + Moved(run, bytes, *bytes_of));
  if (!run.name.empty()) (*bytes_of)[run.name] = bytes;
  row.push_back(known.is_null() ? "| -" : absl::StrFormat("| %.2f", bound / 1e6));
  row.push_back(absl::StrFormat("| %.3f", json->at("check_seconds").get<double>()));
  const double peak = json->at("peak_memory_bytes").get<double>() / 1e6;
  row.push_back("| " + Against(peak, run.megabytes > 0 ? run.megabytes : -1, "0") + " |");
  return row;
}

// What `solve` prints of a problem, on two threads.
std::vector<std::string> Row(const SuiteProblem& problem, const std::string& models, int* failed) {
  std::vector<std::string> row = {"| " + problem.file, absl::StrCat("| ", problem.seconds)};
  const absl::StatusOr<std::string> text =
      OutputOf({ThisProgram(), "solve", PathOf(models, problem.file), "--time-limit",
                absl::StrCat(problem.seconds), "--threads", "2"});
  std::istringstream lines(text.value_or(""));
  std::string word;
  int64_t cost = 0, bound = 0;
  if (!(lines >> word >> cost >> word >> bound)) {
    row.push_back(absl::StrCat("| failed: ", text.status().message(), " | | | |"));
    ++*failed;
    return row;
  }
  const double published = static_cast<double>(problem.published);
  const double above = 100 * (static_cast<double>(cost) - published) / published;
  row.push_back(absl::StrCat("| ", cost));
  row.push_back(absl::StrCat("| ", bound));
  row.push_back(absl::StrCat("| ", problem.published));
  row.push_back("| " + Against(above, problem.within, "3") + " |");
  return row;
}

void PrintProblems(const std::vector<SuiteProblem>& problems, const std::string& models,
                   int* failed) {
  TextTable table(99);
  table.Add({"| problem", "| seconds", "| cost", "| bound", "| best published", "| above it % |"});
  table.Add({"|---", "|---", "|---", "|---", "|---", "|--- |"});
  for (const SuiteProblem& problem : problems) {
    std::cerr << problem.file << "\n";
    table.Add(Row(problem, models, failed));
  }
  std::cout << "\nProblem files, two threads.\n\n" << table.ToString();
}

// Measures every run of a suite file, each in a process of its own so that its peak memory is its
// own; then solves its problem files, and prints tables in Markdown. Files are looked for in the
// folder `models`, then under their own path. An error where the suite cannot be read. A run that
// fails is a row that says so, and FailedPrecondition at the end.
absl::Status BenchSuite(const std::string& suite, const std::string& models) {
  YUBA_ASSIGN_OR_RETURN(const Suite read, ReadSuite(suite));
  TextTable table(99);
  table.Add({"| model", "| devices", "| search", "| seconds", "| gap %", "| moved MB", "| bound MB",
             "| check s", "| peak MB |"});
  table.Add({"|---", "|---", "|---", "|---", "|---", "|---", "|---", "|---", "|--- |"});
  std::map<std::string, double> bytes_of;  // by name
  int failed = 0;                          // rows
  for (const SuiteRun& run : read.runs) {
    std::cerr << run.model << " on " << run.devices << "\n";
    table.Add(Row(run, Measured(run, models), &bytes_of, &failed));
  }
  std::cout << MachineName()
            << ", one core, in process from graph to plan, least of 3. In brackets the "
            << "target, bold where it is missed.\n\n"
            << table.ToString();
  if (!read.problems.empty()) PrintProblems(read.problems, models, &failed);
  if (failed == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      suite, ": ", failed, " of ", read.runs.size() + read.problems.size(), " rows failed, above"));
}

}  // namespace

void AddSuite(CLI::App& app, int& exit_code) {
  struct SuiteFlags {
    std::string file, models;
  };
  auto flags = std::make_shared<SuiteFlags>();
  CLI::App* command = AddCommand(app, "suite", "measure all runs of a file, against their targets");
  command->add_option("file", flags->file, "as docs/search_suite.json")->required();
  command->add_option("--models", flags->models, "the folder of its models");
  OnRun(command, exit_code, [flags] { return BenchSuite(flags->file, flags->models); });
}

}  // namespace yuba::tools
