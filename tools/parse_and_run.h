// What every command does around its work, for main.
#ifndef YUBA_TOOLS_PARSE_AND_RUN_H_
#define YUBA_TOOLS_PARSE_AND_RUN_H_

#include <functional>

#include "tools/command_line.h"

namespace yuba::tools {

// Reads the command line of `app` and calls `run`, whose result is the exit code (exit_code.h).
// Whatever happens, a message says so and the process ends with a code: words that are none, an
// output that cannot be written, too little memory, a back end that hangs. `why` as in
// ReportParseError. To be called last in main().
int ParseAndRun(CLI::App& app, int argc, char** argv, const std::function<int()>& run,
                WhyNotTaken why = nullptr);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_PARSE_AND_RUN_H_
