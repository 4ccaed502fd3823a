// yuba solve: problem files of the IOPDDL contest, with the solvers of the search.
#include <chrono>
#include <iostream>
#include <limits>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "search/iopddl.h"
#include "search/memory_solve.h"
#include "tools/command.h"
#include "tools/subcommands.h"

namespace yuba {
namespace {

struct SolveFlags {
  std::string file;
  double seconds = 60;
  int threads = 1;
};

absl::Status Solve(const SolveFlags& flags) {
  if (!(flags.seconds > 0) || flags.seconds > 1e7) {
    return UserError("--time-limit ", flags.seconds, ": a number of seconds above 0 is needed");
  }
  if (flags.threads < 1 || flags.threads > 64) {
    return UserError("--threads ", flags.threads, ": 1 to 64 threads are possible");
  }
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<PairwiseProblem> problem;
  {
    YUBA_ASSIGN_OR_RETURN(const std::string text, ReadGzip(flags.file));
    problem = ParseIopddl(text);
  }
  if (!problem.ok()) return Annotate(problem.status(), flags.file);
  MemorySolveOptions options;
  const double reading =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  options.seconds = flags.seconds - reading;
  options.threads = flags.threads;
  YUBA_ASSIGN_OR_RETURN(const MemorySolution solution, SolveWithMemory(*problem, options));
  const double gap =
      solution.cost == 0
          ? 0
          : 100.0 * static_cast<double>(solution.cost - solution.bound) / solution.cost;
  std::cout << "cost   " << solution.cost << "\nbound  " << solution.bound
            << absl::StrFormat("\ngap    %.3f %%\n", gap) << "memory " << solution.peak;
  if (problem->memory.limit < std::numeric_limits<int64_t>::max()) {
    std::cout << " of " << problem->memory.limit;
  }
  std::cout << "\n[" << absl::StrJoin(solution.assignment, ", ") << "]\n";
  return absl::OkStatus();
}

}  // namespace

void AddSolve(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<SolveFlags>();
  CLI::App* command = app.add_subcommand("solve", "solve a problem file of the IOPDDL contest");
  command->add_option("file", flags->file, "the problem, JSON, gzipped or not")->required();
  command->add_option("--time-limit", flags->seconds, "seconds, reading included")
      ->capture_default_str();
  command->add_option("--threads", flags->threads, "threads to use")->capture_default_str();
  OnRun(command, exit_code, [flags] { return Solve(*flags); });
}

}  // namespace yuba
