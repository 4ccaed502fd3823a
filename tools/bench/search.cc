// yuba-bench search: searches on several numbers of devices, side by side.
#include "search/search.h"

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/search_model.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "search/check/check.h"
#include "tools/bench/machine.h"
#include "tools/bench/subcommands.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/flags/flag_rows.h"
#include "tools/flags/space_flag.h"
#include "tools/report/search_report.h"
#include "tools/report/text_table.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::ordered_json;

struct BenchFlags {
  ModelFlags model;
  std::vector<int> devices = {8};
  std::vector<std::string> searches = {"default", "recursive"};
  std::vector<std::string> space;
  std::string replicate = "none";
  std::vector<std::string> pins;
  int64_t memory = 0;     // bytes a device; 0: no limit
  double time_limit = 0;  // seconds of a search; 0: none
  int threads = 1;
  int repeat = 3;
  bool json = false;
};

constexpr char kSpace[] = "Space", kSearch[] = "Search";

constexpr FlagRow<BenchFlags> kRows[] = {
    {"space", &BenchFlags::space, kSpace, "as in partition"},
    {"replicate", &BenchFlags::replicate, kSpace, "as in partition",
     []() -> CLI::Validator { return CLI::IsMember(WordsOf<search::Replicate>()); }},
    {"memory", &BenchFlags::memory, kSpace, "as in partition", SizeInBytes},
    {"pin", &BenchFlags::pins, kSpace, "as in partition"},
    {"threads", &BenchFlags::threads, kSearch, "threads of a search, at most 64",
     [] { return WholeNumber(1, kMostThreads); }},
    {"time-limit", &BenchFlags::time_limit, kSearch,
     "seconds of a search; what it then takes is in the table", NumberAbove0},
    {"repeat", &BenchFlags::repeat, kSearch, "take the least of N times",
     [] { return WholeNumber(1, 1 << 20); }},
    {"json", &BenchFlags::json, "Output", "print JSON"},
};

// Calls `repeat` times; the seconds of the fastest call.
absl::StatusOr<double> Time(int repeat, const std::function<absl::Status()>& call) {
  double best = 0;
  for (int i = 0; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    YUBA_RETURN_IF_ERROR(call());
    const double seconds = SecondsSince(start);
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

// One search, timed alone, in process.
struct SearchRun {
  int devices = 0;
  std::string search;
  int64_t bytes = 0, peak_memory = 0;
  int64_t lower_bound = 0, asked_bound = 0;  // bytes, as in Plan
  double seconds = 0, check_seconds = 0;

  bool IsBounded() const { return asked_bound > 0 || bytes == 0; }
  // In percent; "-" where no bound of all that was asked for is known.
  std::string GapText() const {
    if (bytes == asked_bound) return "0.00";
    if (!IsBounded()) return "-";
    return absl::StrFormat("%.2f", 100.0 * static_cast<double>(bytes - asked_bound) / bytes);
  }
};

// The largest resident memory of this process so far, in bytes.
int64_t PeakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

// The default looks at both spaces, as `partition` does.
absl::StatusOr<SearchRun> Measure(const compiler::Model& model, search::SearchOptions options,
                                  int repeat) {
  options.flat_too = options.flat_too && options.search == "default";
  options.progress = [](const search::SearchProgress& progress) {
    ProgressLine::Say(ProgressText(progress));
  };
  compiler::Model planned;
  SearchRun run;
  run.devices = options.mesh.devices();
  run.search = options.search;
  search::Plan plan;
  YUBA_ASSIGN_OR_RETURN(run.seconds, Time(repeat, [&]() -> absl::Status {
                          planned = model;
                          YUBA_ASSIGN_OR_RETURN(plan, compiler::SearchModel(options, planned));
                          return absl::OkStatus();
                        }));
  run.peak_memory = PeakMemory();
  run.bytes = plan.cost.bytes();
  run.lower_bound = plan.lower_bound;
  run.asked_bound = plan.asked_bound;
  YUBA_ASSIGN_OR_RETURN(run.check_seconds,
                        Time(repeat, [&] { return search::CheckPlan(planned.graph, plan); }));
  return run;
}

// The time that a process of this program takes to start.
absl::StatusOr<double> StartSeconds(int repeat) {
  const std::string command = ShellWord(ThisProgram()) + " --version >/dev/null";
  return Time(repeat, [&]() -> absl::Status {
    return std::system(command.c_str()) == 0 ? absl::OkStatus()
                                             : InternalError("no process could be started");
  });
}

void PrintRuns(const std::vector<SearchRun>& runs) {
  TextTable table(0);
  table.Add({"devices", "search", "seconds", "check s", "moved", "bound", "gap %", "peak"});
  for (const SearchRun& run : runs) {
    table.Add({absl::StrCat(run.devices), run.search, absl::StrFormat("%.3f", run.seconds),
               absl::StrFormat("%.3f", run.check_seconds), Bytes(run.bytes),
               run.IsBounded() ? Bytes(run.asked_bound) : "-", run.GapText(),
               Bytes(run.peak_memory)});
  }
  std::cout << table.ToString();
}

void PrintJson(const BenchFlags& flags, const compiler::Model& model, double start, double import,
               const std::vector<SearchRun>& runs) {
  Json json;
  json["machine"] = MachineName();
  json["model"] = BaseName(flags.model.file);
  json["definitions"] = model.graph.nodes.size();
  json["process_start_seconds"] = start;
  json["import_seconds"] = import;
  for (const SearchRun& run : runs) {
    json["runs"].push_back({{"devices", run.devices},
                            {"search", run.search},
                            {"seconds", run.seconds},
                            {"check_seconds", run.check_seconds},
                            {"bytes", run.bytes},
                            {"lower_bound", run.lower_bound},
                            {"asked_lower_bound", run.IsBounded() ? Json(run.asked_bound) : Json()},
                            {"peak_memory_bytes", run.peak_memory}});
  }
  std::cout << json.dump(1) << "\n";
}

search::SearchOptions OptionsOf(const BenchFlags& flags, const SpaceWords& space) {
  search::SearchOptions options;
  SetSpace(space, options);
  options.flat_too = space.dimensions == "default";
  options.replicate = *search::FromWord<search::Replicate>(flags.replicate);
  options.memory_limit = flags.memory;
  options.pin_texts = flags.pins;
  options.threads = flags.threads;
  options.time_limit = flags.time_limit;
  return options;
}

absl::Status BenchSearch(BenchFlags flags) {
  YUBA_ASSIGN_OR_RETURN(const SpaceWords space, ParseSpace(flags.space));
  flags.model.factors = space.HasFactors();
  search::SearchOptions options = OptionsOf(flags, space);
  LoadedModel loaded;
  ProgressLine::Begin("import");
  YUBA_ASSIGN_OR_RETURN(const double import, Time(flags.repeat, [&]() -> absl::Status {
                          YUBA_ASSIGN_OR_RETURN(loaded, LoadModel(flags.model));
                          return absl::OkStatus();
                        }));
  YUBA_ASSIGN_OR_RETURN(const double start, StartSeconds(flags.repeat));
  std::vector<SearchRun> runs;
  for (const int devices : flags.devices) {
    for (const std::string& search : flags.searches) {
      options.mesh = MeshOf(devices);
      options.search = search;
      ProgressLine::Begin(absl::StrCat(search, " on ", Counted(devices, "device")));
      YUBA_ASSIGN_OR_RETURN(SearchRun run, Measure(loaded.model, options, flags.repeat));
      runs.push_back(std::move(run));
    }
  }
  ProgressLine::End();
  if (flags.json) {
    PrintJson(flags, loaded.model, start, import, runs);
    return absl::OkStatus();
  }
  std::cout << MachineName() << ", " << Counted(flags.threads, "thread") << "; least of "
            << flags.repeat << "\n"
            << BaseName(flags.model.file) << ": "
            << Counted(loaded.model.graph.nodes.size(), "definition") << "\n"
            << absl::StrFormat("process start %.3f s, import %.3f s; search includes its tables\n",
                               start, import);
  PrintRuns(runs);
  return absl::OkStatus();
}

}  // namespace

void AddSearch(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command =
      AddCommand(app, "search",
                 "plans on several numbers of devices: import, search and check, each timed alone");
  AddModelFlags(command, flags->model);
  command->add_option("--devices", flags->devices, "device counts, as in 2,4,8")
      ->transform(WholeNumber(1, kMostPlannedDevices))
      ->delimiter(',')
      ->group("Mesh");
  command->add_option("--search", flags->searches, "which searches, as in default,recursive")
      ->delimiter(',')
      ->group(kSearch);
  AddRows<BenchFlags>(command, kRows, *flags);
  OnRun(command, exit_code, [flags] { return BenchSearch(*flags); });
}

}  // namespace yuba::tools
