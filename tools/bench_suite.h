// A suite of searches: figures that are to be reached, and what this machine reaches. For `yuba
// bench search --suite`.
#ifndef YUBA_TOOLS_BENCH_SUITE_H_
#define YUBA_TOOLS_BENCH_SUITE_H_

#include <string>

#include "absl/status/status.h"

namespace yuba::tools {

// The path of the program that is running.
std::string ThisProgram();

// The name of the processor, as the system gives it.
std::string MachineName();

// Measures every run of a suite file (docs/search_suite.json says what such a file holds), each in
// a process of its own so that its peak memory is its own; then solves its problem files, and
// prints tables in Markdown. Files are looked for in the folder `models`, then under their own
// path. An error where the suite cannot be read. A run that fails is a row that says so, and
// FailedPrecondition at the end.
absl::Status BenchSuite(const std::string& suite, const std::string& models);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_BENCH_SUITE_H_
