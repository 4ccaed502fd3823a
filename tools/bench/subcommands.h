// The subcommands of `yuba-bench`, as those of tools/subcommands.h are of `yuba`.
#ifndef YUBA_TOOLS_BENCH_SUBCOMMANDS_H_
#define YUBA_TOOLS_BENCH_SUBCOMMANDS_H_

namespace CLI {
class App;
}

namespace yuba::tools {

void AddSearch(CLI::App& app, int& exit_code);
void AddSuite(CLI::App& app, int& exit_code);
void AddSolve(CLI::App& app, int& exit_code);
void AddFit(CLI::App& app, int& exit_code);
void AddPredicted(CLI::App& app, int& exit_code);
void AddPaper(CLI::App& app, int& exit_code);
void AddLargest(CLI::App& app, int& exit_code);
void AddHgx(CLI::App& app, int& exit_code);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_SUBCOMMANDS_H_
