// yuba bench: the project's own figures, measured where it runs. Benchmarks, not tests.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/status.h"
#include "search/check.h"
#include "search/search.h"
#include "tools/command.h"
#include "opsemantics/base/files.h"
#include "tools/subcommands.h"
#include "tools/text_table.h"

namespace yuba {
namespace {

struct BenchFlags {
  ModelFlags model;
  std::vector<int> devices = {8};
  int repeat = 3;
  bool json = false;
};

// The name of the processor, as the system gives it.
std::string Machine() {
  std::ifstream facts("/proc/cpuinfo");
  std::string line;
  while (std::getline(facts, line)) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

// The least of `repeat` times, in seconds, of which each is one call.
absl::StatusOr<double> Time(int repeat, const std::function<absl::Status()>& call) {
  double best = 0;
  for (int i = 0; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    YUBA_RETURN_IF_ERROR(call());
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

struct SearchFigures {
  int devices = 0;
  int64_t bytes = 0, bound = 0, recursive_bytes = 0;
  double search = 0, recursive = 0, check = 0;  // seconds
};

absl::StatusOr<SearchFigures> Measure(const Graph& graph, int devices, int repeat) {
  SearchFigures figures;
  figures.devices = devices;
  SearchOptions options;
  options.mesh = MeshOf(devices);
  Plan plan;
  const auto search = [&]() -> absl::Status {
    YUBA_ASSIGN_OR_RETURN(plan, Search(graph, options));
    return absl::OkStatus();
  };
  options.search = "recursive";
  YUBA_ASSIGN_OR_RETURN(figures.recursive, Time(repeat, search));
  figures.recursive_bytes = plan.cost.bytes();
  options.search = "default";
  YUBA_ASSIGN_OR_RETURN(figures.search, Time(repeat, search));
  figures.bytes = plan.cost.bytes();
  figures.bound = plan.lower_bound;
  YUBA_ASSIGN_OR_RETURN(figures.check, Time(repeat, [&] { return CheckPlan(graph, plan); }));
  return figures;
}

absl::Status BenchSearch(const BenchFlags& flags) {
  LoadedModel loaded;
  YUBA_ASSIGN_OR_RETURN(const double import, Time(flags.repeat, [&]() -> absl::Status {
                          YUBA_ASSIGN_OR_RETURN(loaded, LoadModel(flags.model));
                          return absl::OkStatus();
                        }));
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  YUBA_ASSIGN_OR_RETURN(const double start, Time(flags.repeat, [&]() -> absl::Status {
                          return std::system(("'" + self + "' --version >/dev/null").c_str()) == 0
                                     ? absl::OkStatus()
                                     : InternalError("no process could be started");
                        }));
  nlohmann::ordered_json json;
  json["machine"] = Machine();
  json["model"] = BaseName(flags.model.file);
  json["definitions"] = loaded.model.graph.nodes.size();
  json["process_start_seconds"] = start;
  json["import_seconds"] = import;
  TextTable table(0);
  table.Add({"devices", "search s", "recursive s", "check s", "moved MB", "bound MB", "recursive MB"});
  for (int devices : flags.devices) {
    if (devices < 1) return UserError("--devices ", devices, ": at least one device is needed");
    YUBA_ASSIGN_OR_RETURN(SearchFigures figures, Measure(loaded.model.graph, devices, flags.repeat));
    json["runs"].push_back({{"devices", devices},
                            {"search_seconds", figures.search},
                            {"recursive_seconds", figures.recursive},
                            {"check_seconds", figures.check},
                            {"bytes", figures.bytes},
                            {"lower_bound", figures.bound},
                            {"recursive_bytes", figures.recursive_bytes}});
    table.Add({absl::StrCat(devices), absl::StrFormat("%.3f", figures.search),
               absl::StrFormat("%.3f", figures.recursive), absl::StrFormat("%.3f", figures.check),
               Megabytes(figures.bytes), Megabytes(figures.bound), Megabytes(figures.recursive_bytes)});
  }
  if (flags.json) {
    std::cout << json.dump(1) << "\n";
    return absl::OkStatus();
  }
  std::cout << Machine() << ", one core; least of " << flags.repeat << "\n"
            << BaseName(flags.model.file) << ": " << loaded.model.graph.nodes.size() << " definitions\n"
            << absl::StrFormat("process start %.3f s, import %.3f s; search includes its tables\n", start,
                               import)
            << table.ToString();
  return absl::OkStatus();
}

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = app.add_subcommand("bench", "measure the project's own figures");
  command->require_subcommand(1);
  CLI::App* search = command->add_subcommand("search", "import, search and check, each timed alone");
  AddModelFlags(search, flags->model);
  search->add_option("--devices", flags->devices, "device counts, as in 2,4,8")->delimiter(',');
  search->add_option("--repeat", flags->repeat, "take the least of N times")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  search->add_flag("--json", flags->json, "print JSON");
  OnRun(search, exit_code, [flags] { return BenchSearch(*flags); });
}

}  // namespace yuba
