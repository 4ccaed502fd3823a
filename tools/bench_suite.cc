#include "tools/bench_suite.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/command_line.h"
#include "tools/text_table.h"

namespace yuba {
namespace {

using Json = nlohmann::json;

// One search to measure, and what it should reach.
struct SuiteRun {
  std::string model;  // a path below the folder of models
  std::vector<std::string> flags;
  int devices = 8;
  std::string search = "default";
  double seconds = 0, gap = -1, megabytes = 0;  // targets; gap -1 and megabytes 0: none
};

absl::StatusOr<std::vector<SuiteRun>> ReadSuite(const std::string& file) {
  YUBA_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::vector<SuiteRun> runs;
  try {
    const Json json = Json::parse(text);
    for (const Json& entry : json.at("runs")) {
      SuiteRun run;
      run.model = entry.at("model").get<std::string>();
      run.flags = entry.value("flags", std::vector<std::string>());
      run.devices = entry.value("devices", 8);
      run.search = entry.value("search", "default");
      run.seconds = entry.at("seconds").get<double>();
      run.gap = entry.value("gap", -1.0);
      run.megabytes = entry.value("peak_megabytes", 0.0);
      runs.push_back(std::move(run));
    }
  } catch (const Json::exception& error) {
    return UserError(file, ": not a suite of runs: ", error.what(),
                     "; docs/search_suite.json shows the form");
  }
  return runs;
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

absl::StatusOr<Json> Measured(const SuiteRun& run, const std::string& models) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words = {
      self,       "bench",    "search",   (std::filesystem::path(models) / run.model).string(),
      "--devices", absl::StrCat(run.devices), "--search", run.search,
      "--json"};
  words.insert(words.end(), run.flags.begin(), run.flags.end());
  YUBA_ASSIGN_OR_RETURN(const std::string text, OutputOf(words));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return InternalError("printed no JSON");
  return json.at("runs").at(0);
}

// "0.12 (0.5)", with a mark where the target is missed.
std::string Against(double value, double target, const char* format) {
  std::string text = absl::StrFormat("%.*f", format[0] - '0', value);
  if (target < 0) return text;
  return absl::StrCat(text, value <= target ? " (" : " **(", target, value <= target ? ")" : ")**");
}

std::vector<std::string> Row(const SuiteRun& run, const absl::StatusOr<Json>& json) {
  std::vector<std::string> row = {
      "| " + run.model, absl::StrCat("| ", run.devices),
      absl::StrCat("| ", run.search, " ", absl::StrJoin(run.flags, " "))};
  if (!json.ok()) {
    row.push_back(absl::StrCat("| failed: ", json.status().message(), " | | | | | |"));
    return row;
  }
  const double bytes = json->at("bytes"), bound = json->at("lower_bound");
  const double gap = bytes == 0 ? 0 : 100 * (bytes - bound) / bytes;
  row.push_back("| " + Against(json->at("seconds"), run.seconds, "3"));
  row.push_back("| " + Against(gap, run.gap, "2"));
  row.push_back(absl::StrFormat("| %.2f", bytes / 1e6));
  row.push_back(absl::StrFormat("| %.2f", bound / 1e6));
  row.push_back(absl::StrFormat("| %.3f", json->at("check_seconds").get<double>()));
  const double peak = json->at("peak_memory_bytes").get<double>() / 1e6;
  row.push_back("| " + Against(peak, run.megabytes > 0 ? run.megabytes : -1, "0") + " |");
  return row;
}

}  // namespace

std::string MachineName() {
  std::ifstream facts("/proc/cpuinfo");
  std::string line;
  while (std::getline(facts, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

absl::Status BenchSuite(const std::string& suite, const std::string& models) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<SuiteRun> runs, ReadSuite(suite));
  TextTable table(99);
  table.Add({"| model", "| devices", "| search", "| seconds", "| gap %", "| moved MB", "| bound MB",
             "| check s", "| peak MB |"});
  table.Add({"|---", "|---", "|---", "|---", "|---", "|---", "|---", "|---", "|--- |"});
  for (const SuiteRun& run : runs) {
    std::cerr << run.model << " on " << run.devices << "\n";
    table.Add(Row(run, Measured(run, models)));
  }
  std::cout << MachineName()
            << ", one core, in process from graph to plan, least of 3. In brackets the "
            << "target, bold where it is missed.\n\n"
            << table.ToString();
  return absl::OkStatus();
}

}  // namespace yuba
