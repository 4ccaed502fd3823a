// yuba bench: the project's own figures, measured where it runs. Benchmarks, not tests.
#include <sys/resource.h>

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
#include "search/search.h"
#include "tools/bench_suite.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/report/search_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::ordered_json;

struct BenchFlags {
  ModelFlags model;
  std::vector<int> devices = {8};
  std::vector<std::string> searches = {"default", "recursive"};
  search::SearchOptions options;
  int repeat = 3;
  std::string suite, models;
  bool json = false;
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
  options.flat_too = options.search == "default";
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

absl::Status BenchSearch(const BenchFlags& flags) {
  if (flags.model.file.empty()) return UserError("give a MODEL to measure, or --suite FILE");
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
      search::SearchOptions options = flags.options;
      options.mesh = MeshOf(devices);
      options.search = search;
      ProgressLine::Begin(absl::StrCat(search, " on ", Counted(devices, "device")));
      YUBA_ASSIGN_OR_RETURN(SearchRun run, Measure(loaded.model, options, flags.repeat));
      runs.push_back(std::move(run));
    }
  }
  ProgressLine::End();
  if (flags.json) {
    Json json;
    json["machine"] = MachineName();
    json["model"] = BaseName(flags.model.file);
    json["definitions"] = loaded.model.graph.nodes.size();
    json["process_start_seconds"] = start;
    json["import_seconds"] = import;
    for (const SearchRun& run : runs) {
      json["runs"].push_back(
          {{"devices", run.devices},
           {"search", run.search},
           {"seconds", run.seconds},
           {"check_seconds", run.check_seconds},
           {"bytes", run.bytes},
           {"lower_bound", run.lower_bound},
           {"asked_lower_bound", run.IsBounded() ? Json(run.asked_bound) : Json()},
           {"peak_memory_bytes", run.peak_memory}});
    }
    std::cout << json.dump(1) << "\n";
    return absl::OkStatus();
  }
  std::cout << MachineName() << ", one core; least of " << flags.repeat << "\n"
            << BaseName(flags.model.file) << ": "
            << Counted(loaded.model.graph.nodes.size(), "definition") << "\n"
            << absl::StrFormat("process start %.3f s, import %.3f s; search includes its tables\n",
                               start, import);
  PrintRuns(runs);
  return absl::OkStatus();
}

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command =
      app.add_subcommand("bench", "time searches, on several numbers of devices side by side");
  command->require_subcommand(1);
  CLI::App* search = command->add_subcommand(
      "search", "plans on several numbers of devices: import, search and check, each timed alone");
  AddModelFlags(search, flags->model);
  AddEntryFlags(search, flags->model);
  AddTrainFlags(search, flags->model);
  search->get_option("model")->required(false);
  search->add_option("--devices", flags->devices, "device counts, as in 2,4,8")
      ->check(WholeNumber(1, kMostPlannedDevices))
      ->delimiter(',');
  search->add_option("--search", flags->searches, "which searches, as in default,recursive")
      ->delimiter(',');
  flags->options.copies = true;
  search
      ->add_option_function<std::string>(
          "--copies", [flags](const std::string& word) { flags->options.copies = word == "all"; },
          "all, as in partition: readers of a tensor may share a copy of it; none: each gathers "
          "for "
          "itself")
      ->check(CLI::IsMember({"all", "none"}));
  search
      ->add_option("--threads", flags->options.threads,
                   absl::StrCat("threads of a search, at most ", kMostThreads))
      ->check(WholeNumber(1, kMostThreads))
      ->capture_default_str();
  search
      ->add_option("--time-limit", flags->options.time_limit,
                   "seconds of a search; what it then takes is in the table")
      ->check(NumberAbove0());
  search
      ->add_option_function<std::string>(
          "--accumulators",
          [flags](const std::string& word) {
            flags->options.accumulators = *search::FromWord<search::Accumulators>(word);
          },
          "as in partition")
      ->check(OneOfWords<search::Accumulators>());
  search
      ->add_option_function<std::string>(
          "--replicate",
          [flags](const std::string& word) {
            flags->options.replicate = *search::FromWord<search::Replicate>(word);
          },
          "as in partition")
      ->check(OneOfWords<search::Replicate>());
  search->add_option("--memory", flags->options.memory_limit, "as in partition")
      ->transform(SizeInBytes());
  search->add_option("--pin", flags->options.pin_texts, "as in partition")->take_all();
  search->add_option("--repeat", flags->repeat, "take the least of N times")
      ->check(WholeNumber(1, 1 << 20))
      ->capture_default_str();
  search->add_option("--suite", flags->suite, "a file of runs and their targets; prints them all");
  search->add_option("--models", flags->models, "with --suite: the folder of its models");
  search->add_flag("--json", flags->json, "print JSON");
  OnRun(search, exit_code, [flags] {
    return flags->suite.empty() ? BenchSearch(*flags) : BenchSuite(flags->suite, flags->models);
  });
}

}  // namespace yuba::tools
