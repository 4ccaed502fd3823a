// The main program of a command with subcommands: what `yuba` and `yuba-bench` share.
#ifndef YUBA_TOOLS_RUN_MAIN_H_
#define YUBA_TOOLS_RUN_MAIN_H_

namespace CLI {
class App;
}

namespace yuba::tools {

// Reads the command line of `app`, which has all its subcommands, as each sets `exit_code` where it
// is called; adds `help`. Prints errors, and ends the process with its exit code. To be called
// last in main().
int RunMain(CLI::App& app, int& exit_code, int argc, char** argv);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_MAIN_H_
