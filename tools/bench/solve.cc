// yuba-bench solve: solves problem files of the IOPDDL contest with the solvers of the search.
#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "search/contest/iopddl.h"
#include "search/rows/memory_solve.h"
#include "tools/bench/subcommands.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/interrupt.h"

namespace yuba::tools {
namespace {

struct SolveFlags {
  std::string file;
  double seconds = 60;
  int threads = 1;
};

// Until the problem is read, Ctrl-C ends the program.
absl::StatusOr<search::PairwiseProblem> ReadProblem(const SolveFlags& flags,
                                                    const search::Budget& budget) {
  const auto stop = [&] { return budget.ShouldStop(); };
  absl::StatusOr<search::PairwiseProblem> problem;
  absl::StatusOr<std::string> text = search::ReadGzip(flags.file, stop);
  if (text.ok()) problem = search::ParseIopddl(*text, stop);
  if (absl::IsCancelled(text.status()) || absl::IsCancelled(problem.status())) {
    return UserError(flags.file, ": is not read within the --time-limit of ", flags.seconds,
                     " seconds: give more");
  }
  YUBA_RETURN_IF_ERROR(text.status());
  return problem.ok() ? std::move(problem) : Annotate(problem.status(), flags.file);
}

absl::Status Solve(const SolveFlags& flags) {
  const search::Budget budget(flags.seconds, flags.threads, InterruptNote::Came);
  const absl::StatusOr<search::PairwiseProblem> problem = ReadProblem(flags, budget);
  YUBA_RETURN_IF_ERROR(problem.status());
  const InterruptNote note(kSearchStops);
  YUBA_ASSIGN_OR_RETURN(const search::MemorySolution solution,
                        search::SolveWithMemory(*problem, budget));
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
  CLI::App* command = AddCommand(app, "solve", "solve a problem file of the IOPDDL contest");
  command->add_option("file", flags->file, "the problem, JSON, gzipped or not")->required();
  command
      ->add_option("--time-limit", flags->seconds,
                   "seconds, reading included; Ctrl-C ends it before, with the best so far")
      ->check(NumberAbove0())
      ->capture_default_str();
  command
      ->add_option("--threads", flags->threads,
                   absl::StrCat("threads to use, at most ", kMostThreads))
      ->transform(WholeNumber(1, kMostThreads))
      ->capture_default_str();
  OnRun(command, exit_code, [flags] { return Solve(*flags); });
}

}  // namespace yuba::tools
