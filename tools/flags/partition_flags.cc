#include "tools/flags/partition_flags.h"

#include <algorithm>
#include <thread>

#include "search/search.h"
#include "tools/command_line.h"
#include "tools/flags/flag_rows.h"
#include "tools/flags/space_flag.h"

namespace yuba::tools {
namespace {

constexpr char kSpace[] = "Space", kSearch[] = "Search", kOutput[] = "Output",
               kDiagnosis[] = "Diagnosis";

// A size, or none, which becomes 0.
CLI::Validator SizeOrNone() {
  return CLI::Validator(
      [](std::string& text) {
        if (text != "none") return SizeInBytes()(text);
        text = "0";
        return std::string();
      },
      "SIZE");
}

constexpr FlagRow<PartitionFlags> kRows[] = {
    {"space", &PartitionFlags::space, kSpace, kSpaceHelp},
    {"objective", &PartitionFlags::objective, kSearch,
     "what to make small: time (needs --machine, and is the default with it) or bytes",
     []() -> CLI::Validator { return CLI::IsMember(WordsOf<search::ObjectiveKind>()); }},
    {"replicate", &PartitionFlags::replicate, kSpace,
     "none: every tensor is split as far as it goes; auto: it may be stored several times; "
     "default: auto for the least time, else none",
     []() -> CLI::Validator { return CLI::IsMember(WordsOf<search::Replicate>()); }},
    {"memory", &PartitionFlags::memory, kSpace,
     "what a device has for the program, as in 40MB, 1.5GB or 24GiB; what libraries take for their "
     "own work comes on top; default: what the machine's devices have, without a machine no limit; "
     "none: no limit",
     SizeOrNone},
    {"pin", &PartitionFlags::pins, kSpace,
     "what a plan must have, as in 'w*=[-, model]', 'conv*/n=data' or batch=data: a dimension as "
     "the model calls it, or batch, and what it becomes"},
    {"search", &PartitionFlags::search, kSearch,
     "how to search: default, recursive (level by level), or a baseline (see compare)",
     []() -> CLI::Validator { return CLI::IsMember(search::SearchNames()); }},
    {"time-limit", &PartitionFlags::time_limit, kSearch,
     "seconds; then the search ends with the best plan so far, as at Ctrl-C", NumberAbove0},
    {"threads", &PartitionFlags::threads, kSearch,
     "threads of the search, at most 64; the plan is the same; default: one a processor",
     [] { return WholeNumber(1, kMostThreads); }},
    {"without", &PartitionFlags::without, kSearch,
     "engines of the search to leave out: what they are worth (--verbose names them)",
     []() -> CLI::Validator { return CLI::IsMember(search::EngineNames()); }},
    {"o,output", &PartitionFlags::output, kOutput,
     "the plan file; default: beside the model's name"},
    {"verbose", &PartitionFlags::verbose, kOutput,
     "print to stderr what each engine adds, and list all that is trained"},
    {"quiet", &PartitionFlags::quiet, kOutput,
     "print nothing, and search no further plans to compare with"},
    {"json", &PartitionFlags::json, kOutput, "print the plan itself"},
    {"dump", &PartitionFlags::dump, kDiagnosis,
     "run all phases and write the state after each into this folder"},
    {"to", &PartitionFlags::to, kDiagnosis, "the last phase to run"},
    {"no-check", &PartitionFlags::no_check, kDiagnosis,
     "do not check the plan, nor replay its bound; the plan says so"},
};

}  // namespace

void AddPartitionFlags(CLI::App* app, PartitionFlags& flags) {
  flags.threads = std::clamp<int>(std::thread::hardware_concurrency(), 1, kMostThreads);
  AddModelFlags(app, flags.model);
  AddMeshFlags(app, flags.mesh);
  AddRows<PartitionFlags>(app, kRows, flags);
}

}  // namespace yuba::tools
