// The `yuba-bench` command: the project's own figures, measured where it runs. Benchmarks, not
// tests, and nothing that who uses `yuba` needs.
#include <CLI/CLI.hpp>

#include "tools/bench/subcommands.h"
#include "tools/run_main.h"

int main(int argc, char** argv) {
  CLI::App app("Measures the searches of yuba.", "yuba-bench");
  int exit_code = 0;
  yuba::tools::AddSearch(app, exit_code);
  yuba::tools::AddSuite(app, exit_code);
  yuba::tools::AddSolve(app, exit_code);
  yuba::tools::AddFit(app, exit_code);
  yuba::tools::AddPredicted(app, exit_code);
  yuba::tools::AddPaper(app, exit_code);
  yuba::tools::AddLargest(app, exit_code);
  yuba::tools::AddHgx(app, exit_code);
  return yuba::tools::RunMain(app, exit_code, argc, argv);
}
